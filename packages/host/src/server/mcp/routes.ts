/** The route of MCP: one POST for requests, notifications and responses of both kinds of revisions. */
import { isCairnError, type Json, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Call, KeyedRoute } from '../http/routes.ts';
import { LARGE_BYTES, type UnreadBytes } from '../http/unread-bytes.ts';
import { shaped } from './call-stream.ts';
import { type Inbound, inboundOf } from './inbound.ts';
import { followed, type MethodPorts, methodNamed } from './methods.ts';
import { resumedCall } from './resumed-call.ts';
import { errorText, idOf, McpError, mcpErrorOf, resultText } from './rpc.ts';
import { callsWorkflow } from './tools.ts';

export interface McpSurface extends MethodPorts {
  readonly unread: UnreadBytes;
}

const message = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional(),
    method: z.string().optional().describe('`tools/call`, for example. The reference lists all of them.'),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'McpMessage' });

const response = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ id: 'McpResponse' });

const headers = z.object({
  'mcp-protocol-version': z.string().optional().describe('The revision of the protocol.'),
  'mcp-session-id': z.string().optional().describe('What the response to `initialize` had, in revisions of 2025.'),
  'mcp-method': z.string().optional().describe('The method of the body, in revision 2026-07-28.'),
  'mcp-name': z.string().optional().describe('The name or the URI of the body, in revision 2026-07-28.'),
});

/** What a call of a workflow takes. Sixteen that come together begin in one turn, and share its commit. */
const WORKFLOW_MS = 0.2;

/** The scopes of a method are checked when it is called; every call shows a run. */
export const mcpRoute = (surface: McpSurface): KeyedRoute => ({
  method: 'POST',
  path: '/v1/mcp',
  scope: 'runs:read',
  holds: true,
  laterMs: ({ request }) => (callsWorkflow(request.body as Json | undefined) ? WORKFLOW_MS : undefined),
  isEventBody: true,
  // The protocol has no key for repeats.
  repeatable: true,
  handle: (call) => answered(call, surface),
  errorText: unreadable,
  doc: {
    id: 'callMcp',
    summary: 'Send an MCP message',
    headers,
    body: message,
    responses: {
      200: {
        description:
          'The result or the error of a request. A call that takes longer, or has messages for its client, answers with `text/event-stream` if the client accepts it: the last frame is such a response.',
        shape: response,
      },
      202: { description: 'The notification or the response was taken.' },
    },
  },
});

/** Continues the stream of a call that was cut. The host has no other messages for clients. */
export const mcpResumeRoute = (surface: McpSurface): KeyedRoute => ({
  method: 'GET',
  path: '/v1/mcp',
  scope: 'runs:read',
  holds: true,
  async handle(call) {
    const lastEventId = call.request.headers['last-event-id'];
    if (typeof lastEventId !== 'string') throw noStream();
    return followed(await resumedCall(call, lastEventId, surface), surface);
  },
  doc: {
    id: 'resumeMcp',
    summary: 'Continue the stream of an MCP call',
    headers: z.object({ 'last-event-id': z.string().describe('The id that the stream of the call had.') }),
    responses: {
      200: { description: 'The messages of the call.', contentType: 'text/event-stream', orStream: response },
    },
    errors: ['not_found', 'method_not_allowed'],
  },
});

const noStream = (): TerminalError =>
  new TerminalError('method_not_allowed', {
    message: 'GET /v1/mcp only continues the stream of a call, and needs Last-Event-ID.',
    hint: 'Send messages with POST.',
  });

async function answered(call: Call, surface: McpSurface): Promise<string | undefined> {
  try {
    const inbound = inboundOf(call, surface.signed);
    if (inbound.kind !== 'request') {
      await noted(call, inbound, surface);
      call.reply.code(202).send();
      return undefined;
    }
    const result = await methodNamed(inbound)(inbound, surface);
    if (result === undefined || typeof result === 'string') return result;
    const text = resultText(inbound.id, shaped(result, inbound.isModern));
    if (text.length >= LARGE_BYTES) surface.unread.admit(call.caller.tenant, call.reply.raw, text.length);
    return text;
  } catch (error) {
    const told = mcpErrorOf(error);
    if (told === null) throw error;
    call.reply.code(told.status);
    return errorText(idOf(call.request.body as Json | undefined), told);
  }
}

/** Other notifications ask for nothing. */
async function noted({ caller }: Call, inbound: Exclude<Inbound, { kind: 'request' }>, surface: McpSurface) {
  if (inbound.kind === 'response') {
    await surface.elicitations.answer(caller, inbound.id, inbound.result);
  } else if (inbound.method === 'notifications/cancelled') {
    const id = idOf({ id: inbound.params.requestId ?? null });
    await surface.openCalls.cancel({ caller, session: inbound.session, id });
  }
}

/** A body that is no JSON never reaches the handler. */
const unreadable = (error: unknown): string | null =>
  isCairnError(error, 'validation_error') ? errorText(null, new McpError('parse', error.message)) : null;
