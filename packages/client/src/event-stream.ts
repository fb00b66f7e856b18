/** One connection to an event stream: parses bytes into frames and frames into events, and closes a silent connection. */
import { type EventDoc, isCairnError, quoted, RetryableError, streamTypes, TerminalError } from '@cairn/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Connection } from './connection.ts';
import { type LinkedAbort, linkedAbort } from './linked-abort.ts';
import type { Timers } from './timers.ts';

export interface EventStream {
  readonly connection: Connection;
  readonly timers: Timers;
  /** Path and query. */
  readonly path: string;
  /** Maximum time without data, not even a keepalive. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** Maximum characters of a frame. An event has at most a few megabytes and a batch little more. */
const MAX_FRAME = 64 * 1024 * 1024;

/** The events of one connection. Ends when the host ends it; throws a retryable error when it breaks. */
export async function* readStream(
  stream: EventStream,
  lastEventId: number | null,
): AsyncGenerator<EventDoc, void, undefined> {
  for await (const frame of readFrames(stream, lastEventId === null ? null : String(lastEventId))) {
    yield* eventsOf(frame);
  }
}

/** The frames of one connection, with the id of the last one the reader has. Ends and throws as above. */
export async function* readFrames(
  stream: EventStream,
  lastEventId: string | null,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const cut = linkedAbort(stream.signal);
  try {
    const response = await watched(stream, cut, () =>
      stream.connection.send({
        method: 'GET',
        path: stream.path,
        headers: {
          accept: 'text/event-stream',
          ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
        },
        signal: cut.signal,
      }),
    );
    const frames: EventSourceMessage[] = [];
    const parser = createParser({
      onEvent: (message) => frames.push(message),
      onError: (error) => {
        // Fields that are unknown are passed over, as the format asks.
        if (error.type === 'max-buffer-size-exceeded') throw oversized(stream.path);
      },
      maxBufferSize: MAX_FRAME,
    });
    const decoder = new TextDecoder();
    const reader = bodyOf(response).getReader();
    for (;;) {
      const chunk = await watched(stream, cut, () => reader.read());
      if (chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      yield* frames.splice(0);
    }
  } finally {
    cut.release();
    cut.abort();
  }
}

/** Reads from the network, but waits no longer than the silence limit. */
async function watched<Value>(stream: EventStream, cut: LinkedAbort, act: () => Promise<Value>): Promise<Value> {
  const silent = new RetryableError('service_unavailable', {
    message: `GET ${stream.path} said nothing for ${stream.silenceMs} ms; the connection counts as dead.`,
  });
  const cancel = stream.timers.after(stream.silenceMs, () => cut.abort(silent));
  try {
    return await act();
  } catch (cause) {
    stream.signal.throwIfAborted();
    if (cut.signal.aborted) throw silent;
    if (isCairnError(cause)) throw cause;
    throw new RetryableError('service_unavailable', { message: `The stream of ${stream.path} broke off.`, cause });
  } finally {
    cancel();
  }
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body !== null && type.startsWith('text/event-stream')) return response.body;
  throw new TerminalError('internal_error', {
    message: `${response.url} answered ${response.status} with ${quoted(type)} instead of an event stream.`,
    hint: 'Check that the address is that of a Cairn or OpenWOP host and that no proxy rewrites the Accept header.',
  });
}

/** A frame is one event; a batch is a list of them. */
function eventsOf({ event, data }: EventSourceMessage): readonly EventDoc[] {
  const content = parsed(data);
  const events = event === streamTypes.batch && Array.isArray(content) ? content : [content];
  if (events.every(isEvent)) return events;
  throw new TerminalError('internal_error', {
    message: `The host sent a frame that is not an event: ${quoted(data)}.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
}

const isEvent = (value: unknown): value is EventDoc =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  'sequence' in value &&
  Number.isSafeInteger(value.sequence);

/** The JSON of a frame; null when it is none. */
export function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

const oversized = (path: string): TerminalError =>
  new TerminalError('internal_error', {
    message: `GET ${path} sent a frame of more than ${MAX_FRAME} characters.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
