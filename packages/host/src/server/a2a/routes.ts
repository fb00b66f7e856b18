/** The routes of A2A: JSON-RPC at `/v1/a2a` and for each skill, and the agent cards. */
import { isCairnError, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { type Call, type HttpCall, type KeyedRoute, pathParam, type Route } from '../http/routes.ts';
import { LARGE_BYTES, type UnreadBytes } from '../http/unread-bytes.ts';
import { varyBy } from '../http/vary.ts';
import type { Cards } from './cards.ts';
import { type MethodPorts, methodNamed } from './methods.ts';
import { errorText, idOf, parseRpc, RpcError, rpcErrorOf } from './rpc.ts';
import { type A2aVersion, a2aVersions } from './versions.ts';
import { isWorkflowId } from './workflows.ts';

export interface A2aSurface extends MethodPorts {
  readonly cards: Cards;
  /** The versions that are served. Empty: there is no A2A. */
  readonly versions: readonly A2aVersion[];
  readonly unread: UnreadBytes;
}

export const a2aRoutes = (surface: A2aSurface): readonly Route[] =>
  surface.versions.length === 0
    ? []
    : [
        rpcRoute('callA2a', '/v1/a2a', 'Call an A2A method; messages go to the default agent', surface),
        rpcRoute(
          'callA2aSkill',
          '/v1/a2a/{skillId}',
          'Call an A2A method; messages go to this agent or workflow',
          surface,
        ),
        openCard('getAgentCard', '/.well-known/agent-card.json', surface),
        openCard('getA2aCard', '/v1/a2a/agent.json', surface),
        skillCard(surface),
      ];

const request = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]).optional(),
    method: z.string().describe('`SendMessage`, or `message/send` in version 0.3. The reference lists all of them.'),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'A2aRequest' });

const response = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    result: z.unknown().optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ id: 'A2aResponse' });

const card = z
  .looseObject({ name: z.string(), description: z.string(), version: z.string(), skills: z.array(z.looseObject({})) })
  .meta({ id: 'AgentCard' });

const versionHeader = z.object({
  'a2a-version': z.string().optional().describe('The version of the protocol: 1.0 or 0.3. Absent: 0.3.'),
});

/** What a message to a workflow takes. Sixteen that come together begin in one turn, and share its commit. */
const WORKFLOW_MS = 0.2;

/** The scopes of a method are checked when it is called; every method shows tasks. */
const rpcRoute = (id: string, path: string, summary: string, surface: A2aSurface): KeyedRoute => ({
  method: 'POST',
  path,
  scope: 'runs:read',
  holds: true,
  laterMs: (call) => (isWorkflowId(pathParam(call, 'skillId')) ? WORKFLOW_MS : undefined),
  isEventBody: true,
  // The id of a message is its key.
  repeatable: true,
  handle: (call) => answered(call, surface),
  errorText: unreadable,
  doc: {
    id,
    summary,
    headers: versionHeader,
    body: request,
    responses: {
      200: {
        description:
          'The result or the error of the method. A streaming method answers with `text/event-stream`: the data of each frame is such a response.',
        shape: response,
      },
    },
  },
});

async function answered(call: Call, surface: A2aSurface): Promise<string | undefined> {
  const { body } = call.request;
  try {
    const rpc = parseRpc(body as Parameters<typeof parseRpc>[0]);
    const version = versionAsked(call, surface.versions);
    const skillId = pathParam(call, 'skillId');
    const asked = { call, version, rpc, skillId: skillId === '' ? undefined : skillId };
    const text = await methodNamed(asked)(asked, surface);
    if (text !== undefined && text.length >= LARGE_BYTES) {
      surface.unread.admit(call.caller.tenant, call.reply.raw, text.length);
    }
    return text;
  } catch (error) {
    const told = rpcErrorOf(error);
    if (told === null) throw error;
    call.reply.code(200);
    return errorText(idOf(body as Parameters<typeof idOf>[0]), told);
  }
}

/** A body that is no JSON never reaches the handler. */
const unreadable = (error: unknown): string | null =>
  isCairnError(error, 'validation_error') ? errorText(null, new RpcError('parse', error.message)) : null;

/** The version that the header names, without its patch number. */
function headerVersion({ request: { headers } }: HttpCall): string | null {
  const header = headers['a2a-version'];
  if (typeof header !== 'string' || header.trim() === '') return null;
  return /^\d{1,3}\.\d{1,3}(?=\.|$)/.exec(header.trim())?.[0] ?? header;
}

function versionAsked(call: HttpCall, served: readonly A2aVersion[]): A2aVersion {
  const asked = headerVersion(call) ?? '0.3';
  const found = served.find((version) => version === asked);
  if (found !== undefined) return found;
  const hint = `This host speaks ${served.join(' and ')}: send it in the header A2A-Version. Without it, a request is of 0.3.`;
  throw new RpcError('version', `The request is of a version that is not served. ${hint}`);
}

/** Without a header, the older form while it is served. */
function cardVersion(call: HttpCall, served: readonly A2aVersion[]): A2aVersion {
  const asked = headerVersion(call) ?? '0.3';
  return served.find((version) => version === asked) ?? served[0] ?? a2aVersions[0];
}

const openCard = (id: string, path: string, { cards, versions }: A2aSurface): Route => ({
  method: 'GET',
  path,
  scope: null,
  handle: async (call) => {
    call.reply.header('cache-control', 'public, max-age=300');
    varyBy(call.reply, 'A2A-Version');
    return JSON.stringify(await cards.open(cardVersion(call, versions)));
  },
  doc: {
    id,
    summary: 'The A2A agent card of this host',
    headers: versionHeader,
    responses: { 200: { description: 'The card, in the form of the version.', shape: card } },
  },
});

const skillCard = ({ cards, versions }: A2aSurface): Route => ({
  method: 'GET',
  path: '/v1/a2a/{skillId}/.well-known/agent-card.json',
  scope: 'manifest:read',
  handle: async (call) => {
    varyBy(call.reply, 'A2A-Version');
    const asked = { version: cardVersion(call, versions), skillId: pathParam(call, 'skillId') };
    return JSON.stringify(await cards.extended(call.caller, asked).catch(asNotFound));
  },
  doc: {
    id: 'getA2aSkillCard',
    summary: 'The A2A agent card of one agent or workflow',
    headers: versionHeader,
    responses: { 200: { description: 'The card, in the form of the version.', shape: card } },
    errors: ['not_found'],
  },
});

function asNotFound(error: unknown): never {
  if (!(error instanceof RpcError)) throw error;
  throw new TerminalError('not_found', {
    message: error.message,
    hint: 'GET /v1/agents and GET /v1/workflows list those of the tenant.',
  });
}
