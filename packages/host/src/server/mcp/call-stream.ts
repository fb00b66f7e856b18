/** The response to a tool call: a stream with progress and questions before the result, or the result alone. */
import type { Report, Timers } from '../../engine/ports.ts';
import { takenOver } from '../http/large-response.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { OpenCalls } from './open-calls.ts';
import { errorText, frameText, McpError, mcpErrorOf, resultText } from './rpc.ts';
import { type CallPorts, concluded, type OpenToolCall } from './tool-call.ts';

export interface CallStreamPorts extends CallPorts {
  readonly streams: EventStreams;
  readonly openCalls: OpenCalls;
  readonly timers: Timers;
  readonly report: Report;
}

/** Writes the messages of a call, and its result as the last one. */
export function streamed(opened: OpenToolCall, done: () => void, ports: CallStreamPorts): void {
  const { request, watch } = opened;
  const { call, id, isModern } = request;
  const { tenant, expiresAt } = call.caller;
  const response = takenOver(call);
  let isAnswered = false;
  ports.streams.serveFrom(response, { tenant, expiresAt, what: watch.runId }, (sink) => {
    let hasRoom = true;
    opened.send = (message) => {
      // What does not fit is left out, except for questions: a client that does not read is cut in the end.
      if (!isAnswered && (hasRoom || 'id' in message)) hasRoom = sink.write(chunk(frameText(message)));
    };
    const end = (text: string) => {
      isAnswered = true;
      sink.write({ ...chunk(`data: ${text}\n\n`), isLast: true });
    };
    concluded(opened, ports)
      .then((result) => end(resultText(id, shaped(result, isModern))))
      .catch((error: unknown) => end(errorText(id, failureOf(error, ports, watch.runId))))
      .finally(done);
    return {
      resume: () => {
        hasRoom = true;
      },
      close: () => {
        // To leave is to cancel in the revision without a handshake, and says nothing in the others.
        const hasLeft = response.destroyed && !response.writableEnded && !isAnswered;
        if (hasLeft && isModern) ports.openCalls.cancelRun(call.caller, watch).catch(reported(ports, watch.runId));
        isAnswered = true;
        watch.stop();
      },
    };
  });
}

const chunk = (text: string) => ({ text, upTo: -1, urgent: true, isLast: false });

/** How long a request without a stream waits for its run. The run goes on. */
const MAX_WAIT_MS = 600_000;

/** Resolves with the result, at the latest after the time or when the client leaves. */
export async function waited(opened: OpenToolCall, ports: CallStreamPorts): Promise<object> {
  const { raw } = opened.request.call.reply;
  const stop = () => opened.watch.stop();
  const cancel = ports.timers.after(MAX_WAIT_MS, stop);
  raw.on('close', stop);
  try {
    return await concluded(opened, ports);
  } finally {
    raw.off('close', stop);
    cancel();
  }
}

/** The revision without a handshake tells results apart by their type. */
export const shaped = (result: object, isModern: boolean): object =>
  isModern ? { resultType: 'complete', ...result } : result;

function failureOf(error: unknown, ports: CallStreamPorts, runId: string): McpError {
  const told = mcpErrorOf(error);
  if (told !== null) return told;
  reported(ports, runId)(error);
  return new McpError('internal', 'The host could not follow the run. The run goes on.');
}

const reported =
  ({ report }: CallStreamPorts, runId: string) =>
  (error: unknown): void =>
    report({ level: 'error', event: 'mcp.call_failed', facts: { runId }, error });
