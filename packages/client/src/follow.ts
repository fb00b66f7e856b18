/** Follows a run to its end across any number of broken connections: no event twice, none left out, in order. */
import { isCairnError, isTerminalType, quoted, RetryableError, type RunEventDoc, TerminalError } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import type { Connection } from './connection.ts';
import { retryAfterMs } from './response-error.ts';
import { pause, type Timers } from './timers.ts';

export interface FollowOptions {
  /** Start after this sequence; left out, from the first event. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** How long a connection may say nothing, not even a keepalive, before it counts as dead. Default 60,000. */
  readonly silenceMs?: number;
}

interface Follower {
  readonly connection: Connection;
  readonly timers: Timers;
  readonly path: string;
  readonly silenceMs: number;
  /** Aborted by the caller's signal and when the caller stops iterating. */
  readonly stop: AbortController;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
const DEFAULT_SILENCE_MS = 60_000;

/**
 * The events of a run as they become durable, until the terminal one. Sequences increase; they may have holes, because a
 * key without `audit:read` does not see operator rows. Throws a typed error when the host refuses (401, 403, 404, 400).
 */
export async function* follow(
  connection: Connection,
  timers: Timers,
  runId: string,
  options: FollowOptions = {},
): AsyncGenerator<RunEventDoc, void, undefined> {
  const stop = new AbortController();
  const forward = () => stop.abort(options.signal?.reason);
  if (options.signal?.aborted) forward();
  options.signal?.addEventListener('abort', forward, { once: true });
  const follower: Follower = {
    connection,
    timers,
    path: `/v1/runs/${encodeURIComponent(runId)}/events`,
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    stop,
  };
  try {
    yield* reconnecting(follower, options.after ?? -1);
  } finally {
    options.signal?.removeEventListener('abort', forward);
    stop.abort();
  }
}

/** Connects, yields what is new, and connects again after the last event it yielded. */
async function* reconnecting(follower: Follower, after: number): AsyncGenerator<RunEventDoc, void, undefined> {
  let last = after;
  let failures = 0;
  for (;;) {
    let wait: number | null = null;
    try {
      for await (const event of oneConnection(follower, last)) {
        if (event.sequence <= last) continue;
        last = event.sequence;
        failures = 0;
        yield event;
        if (isTerminalType(event.type)) return;
      }
      // A stream that was resumed at or after the terminal event ends without one; so does one whose host went away.
      if (last === after && (await hasEnded(follower, last))) return;
    } catch (error) {
      follower.stop.signal.throwIfAborted();
      if (!isCairnError(error) || !error.retryable) throw error;
      wait = retryAfterMs(error);
    }
    await pause(follower.timers, wait ?? backoff(failures, follower.timers), follower.stop.signal);
    failures += 1;
  }
}

/** Doubles from a quarter of a second to fifteen; the jitter keeps the clients of a restarted host apart. */
function backoff(failures: number, timers: Timers): number {
  const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (ceiling / 2) * timers.random();
}

/** The events of one connection. Ends when the host ends it; throws a retryable error when it breaks. */
async function* oneConnection(follower: Follower, last: number): AsyncGenerator<RunEventDoc, void, undefined> {
  const cut = new AbortController();
  const relay = () => cut.abort(follower.stop.signal.reason);
  if (follower.stop.signal.aborted) relay();
  follower.stop.signal.addEventListener('abort', relay, { once: true });
  try {
    const response = await guarded(follower, cut, () =>
      follower.connection.send({
        method: 'GET',
        path: follower.path,
        headers: { accept: 'text/event-stream', ...(last >= 0 ? { 'last-event-id': String(last) } : {}) },
        signal: cut.signal,
      }),
    );
    const events: RunEventDoc[] = [];
    const parser = createParser({ onEvent: (message) => events.push(parseEvent(message.data)) });
    const decoder = new TextDecoder();
    const reader = bodyOf(response).getReader();
    for (;;) {
      const chunk = await guarded(follower, cut, () => reader.read());
      if (chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    follower.stop.signal.removeEventListener('abort', relay);
    cut.abort();
  }
}

/** Waits for the network, but no longer than the silence a living connection may keep. */
async function guarded<Value>(follower: Follower, cut: AbortController, act: () => Promise<Value>): Promise<Value> {
  const silent = new RetryableError('service_unavailable', {
    message: `GET ${follower.path} said nothing for ${follower.silenceMs} ms; the connection counts as dead.`,
  });
  const cancel = follower.timers.after(follower.silenceMs, () => cut.abort(silent));
  try {
    return await act();
  } catch (cause) {
    follower.stop.signal.throwIfAborted();
    if (cut.signal.aborted) throw silent;
    if (isCairnError(cause)) throw cause;
    throw new RetryableError('service_unavailable', { message: `The stream of ${follower.path} broke off.`, cause });
  } finally {
    cancel();
  }
}

async function hasEnded(follower: Follower, last: number): Promise<boolean> {
  const query = last >= 0 ? `?lastSequence=${last}&timeout=1` : '?timeout=1';
  const poll = await follower.connection.json<{ readonly events: readonly unknown[]; readonly isComplete: boolean }>({
    method: 'GET',
    path: `${follower.path}/poll${query}`,
    signal: follower.stop.signal,
  });
  return poll.isComplete && poll.events.length === 0;
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body !== null && type.startsWith('text/event-stream')) return response.body;
  throw new TerminalError('internal_error', {
    message: `${response.url} answered ${response.status} with ${quoted(type)} instead of an event stream.`,
    hint: 'Check that the address is that of a Cairn or OpenWOP host and that no proxy rewrites the Accept header.',
  });
}

function parseEvent(data: string): RunEventDoc {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    event = null;
  }
  if (typeof event === 'object' && event !== null && 'sequence' in event && Number.isSafeInteger(event.sequence)) {
    return event as RunEventDoc;
  }
  throw new TerminalError('internal_error', {
    message: `The host sent a frame that is no event: ${quoted(data)}.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
}
