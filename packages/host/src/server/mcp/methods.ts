/** The methods of MCP in both kinds of revisions. */
import { requireScope } from '../access/auth.ts';
import { acceptsStream } from '../http/accepts-stream.ts';
import { type CallStreamPorts, streamed, waited } from './call-stream.ts';
import { completed } from './completions.ts';
import { type McpRequest, newSession } from './inbound.ts';
import { gotPrompt, listedPrompts, type PromptPorts } from './prompts.ts';
import { listedResources, type ResourcePorts, readResource, templatesOf } from './resources.ts';
import { McpError } from './rpc.ts';
import { type OpenToolCall, openedCall } from './tool-call.ts';
import { listedTools } from './tools.ts';
import { legacyRevisions, mcpRevisions } from './versions.ts';

export interface MethodPorts extends CallStreamPorts, ResourcePorts, PromptPorts {
  /** Of this program. */
  readonly version: string;
}

/** Returns the result, the whole response, or undefined once it streams. */
type Method = (request: McpRequest, ports: MethodPorts) => Promise<object | string | undefined>;

const offered = { tools: {}, resources: {}, prompts: {}, completions: {} };

const capabilities = { ...offered, logging: {} };

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
  capabilities: offered,
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

const listTemplates: Method = async ({ isModern }, ports) => ({
  ...(isModern && cacheable),
  resourceTemplates: templatesOf(ports),
});

const read: Method = async ({ call, params, isModern }, ports) => ({
  ...(isModern && cacheable),
  ...(await readResource(call, params.uri, ports)),
});

const listPrompts: Method = async ({ call, params, isModern }, ports) => {
  requireScope(call.caller, 'manifest:read');
  return { ...(isModern && cacheable), ...listedPrompts(call, ports, cursorIn(params)) };
};

const getPrompt: Method = async (request, ports) => {
  requireScope(request.call.caller, 'manifest:read');
  return gotPrompt(request, ports);
};

const complete: Method = async ({ call, params }, ports) => completed(call, params, ports);

const callTool: Method = async (request, ports) => {
  const opened = await openedCall(request, ports);
  if (!('watch' in opened)) return opened;
  if (takesStream(request)) return followed(opened, ports);
  return waited(opened, ports).finally(entered(opened, ports));
};

/** The response to a call whose client takes streams; undefined once it streams. */
export const followed = (opened: OpenToolCall, ports: MethodPorts): Promise<string | undefined> =>
  streamed(opened, entered(opened, ports), ports);

/** A notification can cancel the run. Returns what ends the entry. */
function entered({ request: { call, session, id }, watch }: OpenToolCall, { openCalls }: MethodPorts): () => void {
  const leave = openCalls.add({ caller: call.caller, session, id }, watch);
  return () => {
    leave();
    watch.close();
  };
}

const takesStream = ({ call }: McpRequest): boolean => acceptsStream(call.request.headers.accept);

const common: Readonly<Record<string, Method>> = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': read,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
};

const legacy: Readonly<Record<string, Method>> = { ...common, initialize, ping, 'logging/setLevel': setLevel };
const modern: Readonly<Record<string, Method>> = { ...common, 'server/discover': discover };

/** Of all revisions. */
export const mcpMethodNames: readonly string[] = Object.keys({ ...legacy, ...modern });

export function methodNamed({ isModern, method }: McpRequest): Method {
  const methods = isModern ? modern : legacy;
  const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (found !== undefined) return found;
  const message = `This host has no method of this name. It has ${Object.keys(methods).join(', ')}.`;
  throw new McpError('method', message, { status: isModern ? 404 : 200 });
}
