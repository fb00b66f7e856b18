/** The methods of MCP in both kinds of revisions. */
import { requireScope } from '../access/auth.ts';
import { type CallStreamPorts, streamed, waited } from './call-stream.ts';
import { type McpRequest, newSession } from './inbound.ts';
import { listedResources, type ResourcePorts, readResource, resourceTemplates } from './resources.ts';
import { McpError } from './rpc.ts';
import { openedCall } from './tool-call.ts';
import { listedTools } from './tools.ts';
import { legacyRevisions, mcpRevisions } from './versions.ts';

export interface MethodPorts extends CallStreamPorts, ResourcePorts {
  /** Of this program. */
  readonly version: string;
}

/** Returns the result, or undefined once it streams. */
type Method = (request: McpRequest, ports: MethodPorts) => Promise<object | undefined>;

const capabilities = { tools: {}, resources: {}, logging: {} };

const serverInfo = ({ version }: MethodPorts) => ({ name: 'cairn', title: 'Cairn', version });

/** A client that asks for a revision that is not served gets the preferred one, and may leave. */
const initialize: Method = async ({ call, params }, ports) => {
  const protocolVersion = legacyRevisions.find((served) => served === params.protocolVersion) ?? legacyRevisions[0];
  call.reply.header('mcp-session-id', newSession(call, params, ports.signed));
  return { protocolVersion, capabilities, serverInfo: serverInfo(ports) };
};

const discover: Method = async (_, ports) => ({
  ...cacheable,
  supportedVersions: mcpRevisions,
  capabilities: { tools: {}, resources: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo(ports) },
});

const ping: Method = async () => ({});

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** The host sends no log messages to clients: a run is followed by its events. */
const setLevel: Method = async ({ params: { level } }) => {
  if (typeof level === 'string' && levels.includes(level)) return {};
  throw new McpError('params', `level must be one of ${levels.join(', ')}.`);
};

/** What a tenant may see may change at any time. */
const cacheable = { ttlMs: 0, cacheScope: 'private' };

const listTools: Method = async ({ call, params, isModern }, ports) => {
  requireScope(call.caller, 'manifest:read');
  return { ...(isModern && cacheable), ...(await listedTools(call, ports, cursorIn(params))) };
};

function cursorIn({ cursor }: McpRequest['params']): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new McpError('params', 'cursor must be a text of an earlier list.');
}

const listResources: Method = async ({ call, params, isModern }, ports) => ({
  ...(isModern && cacheable),
  ...(await listedResources(call, ports, cursorIn(params))),
});

const listTemplates: Method = async ({ isModern }) => ({ ...(isModern && cacheable), resourceTemplates });

const read: Method = async ({ call, params, isModern }, ports) => ({
  ...(isModern && cacheable),
  ...(await readResource(call, params.uri, ports)),
});

const callTool: Method = async (request, ports) => {
  const opened = await openedCall(request, ports);
  if (!('watch' in opened)) return opened;
  const { call, session, id } = request;
  const close = ports.openCalls.add({ caller: call.caller, session, id }, opened.watch);
  const done = () => {
    close();
    opened.watch.close();
  };
  if (takesStream(request)) {
    streamed(opened, done, ports);
    return undefined;
  }
  return waited(opened, ports).finally(done);
};

const takesStream = ({ call }: McpRequest): boolean =>
  String(call.request.headers.accept).includes('text/event-stream');

const common: Readonly<Record<string, Method>> = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': read,
};

const legacy: Readonly<Record<string, Method>> = { ...common, initialize, ping, 'logging/setLevel': setLevel };
const modern: Readonly<Record<string, Method>> = { ...common, 'server/discover': discover };

export function methodNamed({ isModern, method }: McpRequest): Method {
  const methods = isModern ? modern : legacy;
  const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (found !== undefined) return found;
  const message = `This host has no method of this name. It has ${Object.keys(methods).join(', ')}.`;
  throw new McpError('method', message, { status: isModern ? 404 : 200 });
}
