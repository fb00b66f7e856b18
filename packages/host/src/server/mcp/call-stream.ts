/** The response to a tool call: a stream with progress and questions before the result, or the result alone. */
import type { Report, Timers } from '../../engine/ports.ts';
import { takenOver } from '../http/large-response.ts';
import { LARGE_BYTES } from '../http/unread-bytes.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { OpenCalls } from './open-calls.ts';
import { originOf } from './results.ts';
import { firstEvent } from './resumed-call.ts';
import { errorText, frameText, McpError, mcpErrorOf, resultText } from './rpc.ts';
import type { RunWatch } from './run-watch.ts';
import { type CallPorts, concluded, type OpenToolCall } from './tool-call.ts';

export interface CallStreamPorts extends CallPorts {
  readonly streams: EventStreams;
  readonly openCalls: OpenCalls;
  readonly timers: Timers;
  readonly report: Report;
}

/** A message of the host on the stream of a call. */
type Send = (message: object) => void;

/** A call whose result is on its way. */
interface StreamedCall {
  readonly opened: OpenToolCall;
  readonly result: Promise<object>;
}

/** Writes the messages of a call, and its result as the last one. Returns what writes a message. */
function stream({ opened, result }: StreamedCall, ports: CallStreamPorts): Send {
  const { request, watch } = opened;
  const { call, id, isModern } = request;
  const { tenant, expiresAt } = call.caller;
  const response = takenOver(call);
  let isAnswered = false;
  let send: Send = () => {};
  ports.streams.serveFrom(response, { tenant, expiresAt, what: watch.runId }, (sink) => {
    let hasRoom = true;
    if (request.isResumable) sink.write(chunk(firstEvent(opened, ports.signed)));
    send = (message) => {
      // What does not fit is left out, except for questions: a client that does not read is cut in the end.
      if (!isAnswered && (hasRoom || 'id' in message)) hasRoom = sink.write(chunk(frameText(message)));
    };
    const end = (text: string) => {
      isAnswered = true;
      sink.write({ ...chunk(`data: ${text}\n\n`), isLast: true });
    };
    result
      .then((given) => end(resultText(id, shaped(given, isModern))))
      .catch((error: unknown) => end(errorText(id, failureOf(error, ports, watch))));
    return {
      resume: () => {
        hasRoom = true;
      },
      close: () => {
        if (response.destroyed && !response.writableEnded && !isAnswered) left(opened, ports);
        isAnswered = true;
        watch.stop();
      },
    };
  });
  return send;
}

/** To leave is to cancel in the revision without a handshake, and says nothing in the others. */
function left({ request: { call, isModern }, watch }: OpenToolCall, ports: CallStreamPorts): void {
  if (isModern) ports.openCalls.cancelRun(call.caller, watch).catch(reported(ports, watch.runId));
}

const chunk = (text: string) => ({ text, upTo: -1, urgent: true, isLast: false });

/** How long a call without messages may take until its client learns that it is at work, and is kept alive. */
const QUIET_MS = 250;

/**
 * Resolves with the response if it is small, comes soon, and no message comes before it. Otherwise the response becomes
 * a stream, and this resolves with undefined. `done` is called when the call is over.
 */
export function streamed(opened: OpenToolCall, done: () => void, ports: CallStreamPorts): Promise<string | undefined> {
  const { request, watch } = opened;
  const { id, isModern, isResumable } = request;
  const { raw } = request.call.reply;
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let send: Send | null = null;
  const begin = (): Send => {
    leave();
    resolve(undefined);
    send ??= stream({ opened, result }, ports);
    return send;
  };
  const leave = () => {
    cancel();
    raw.off('close', gone);
  };
  const gone = () => {
    leave();
    left(opened, ports);
    watch.stop();
  };
  const cancel = ports.timers.after(QUIET_MS, begin);
  raw.on('close', gone);
  opened.send = (message) => (send ?? begin())(message);
  // A run that asks something at once sends a message at once: a moment later.
  const result = Promise.resolve()
    .then(() => concluded(opened, ports))
    .finally(done);
  const answer = (given: object) => {
    if (send !== null) return;
    const text = resultText(id, shaped(given, isModern));
    if (text.length >= LARGE_BYTES) {
      begin();
      return;
    }
    leave();
    resolve(text);
  };
  const fail = (error: unknown) => {
    leave();
    if (send === null) reject(failureOf(error, ports, watch));
  };
  result.then(answer, fail);
  // A client that can continue a stream learns at once how. One that left while its run was started is gone.
  if (raw.destroyed) gone();
  else if (isResumable) begin();
  return promise;
}

/** How long a request without a stream waits for its run. The run goes on. */
const MAX_WAIT_MS = 600_000;

/** Resolves with the result, at the latest after the time or when the client leaves. */
export async function waited(opened: OpenToolCall, ports: CallStreamPorts): Promise<object> {
  const { raw } = opened.request.call.reply;
  const stop = () => opened.watch.stop();
  const gone = () => {
    left(opened, ports);
    stop();
  };
  const cancel = ports.timers.after(MAX_WAIT_MS, stop);
  raw.on('close', gone);
  try {
    return await concluded(opened, ports);
  } finally {
    raw.off('close', gone);
    cancel();
  }
}

/** The revision without a handshake tells results apart by their type. */
export const shaped = (result: object, isModern: boolean): object =>
  isModern ? { resultType: 'complete', ...result } : result;

function failureOf(error: unknown, ports: CallStreamPorts, watch: RunWatch): McpError {
  const told = mcpErrorOf(error);
  if (told !== null) return told;
  reported(ports, watch.runId)(error);
  const data = originOf(watch, ports.hostId);
  return new McpError('internal', 'The host could not follow the run. The run goes on.', { data });
}

const reported =
  ({ report }: CallStreamPorts, runId: string) =>
  (error: unknown): void =>
    report({ level: 'error', event: 'mcp.call_failed', facts: { runId }, error });
