/**
 * A call whose stream was cut, in revisions with a session. The first event of a stream has an id that says which call it
 * is, signed, so that the client reads on with it. The host keeps nothing for it: the run is in the log.
 */
import { isCairnError, parseRunId, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Call } from '../http/routes.ts';
import type { McpRequest } from './inbound.ts';
import { McpError } from './rpc.ts';
import type { Signed } from './signed.ts';
import { type CallPorts, type OpenToolCall, watchedAgain } from './tool-call.ts';
import { toolNamed } from './tools.ts';

/** The id and the token of a request, as a client chooses them. */
const chosen = z.union([z.string().max(256), z.int(), z.null()]);

const shape = z.object({
  kind: z.literal('stream'),
  runId: z.string(),
  tool: z.string(),
  id: chosen,
  progressToken: chosen,
  session: z.object({ id: z.string(), canElicit: z.boolean() }),
});

/** How soon a client comes back. */
const RETRY_MS = 500;

/** An event without data, which only says where the stream can be continued. */
export function firstEvent({ request, tool, watch }: OpenToolCall, signed: Signed): string {
  const { id, meta, session, call } = request;
  const progressToken = chosen.safeParse(meta.progressToken).data ?? null;
  const about = { kind: 'stream', runId: watch.runId, tool: tool.name, id, progressToken, session };
  return `id: ${signed.sign(tenantOf(call), about)}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

/** A caller that may read the runs of the tenant may follow this one. Answers and cancels need their own scopes. */
const tenantOf = ({ caller: { tenant } }: Call): Pick<Call['caller'], 'tenant' | 'principal'> => ({
  tenant,
  principal: undefined,
});

/** Follows the run again. Throws `not_found` for an id that this host did not give to this tenant. */
export async function resumedCall(call: Call, lastEventId: string, ports: CallPorts): Promise<OpenToolCall> {
  const stream = shape.safeParse(ports.signed.open(tenantOf(call), lastEventId)).data;
  const runId = stream === undefined ? null : parseRunId(stream.runId);
  if (stream === undefined || runId === null) throw unknownStream();
  const { id, tool: name, progressToken, session } = stream;
  const meta = progressToken === null ? {} : { progressToken };
  const about = {
    kind: 'request',
    method: 'tools/call',
    params: { name },
    isModern: false,
    isResumable: true,
  } as const;
  const request: McpRequest = { ...about, call, id, meta, session };
  try {
    const tool = await toolNamed(call, request.params, ports);
    return await watchedAgain(request, { tool, runId }, ports);
  } catch (error) {
    // The workflow or the run is gone by now.
    if (error instanceof McpError || isCairnError(error, 'run_purged')) throw unknownStream();
    throw error;
  }
}

const unknownStream = (): TerminalError =>
  new TerminalError('not_found', {
    message: 'Last-Event-ID names no stream of this host.',
    hint: 'Read the run as a resource, or call the tool again.',
  });
