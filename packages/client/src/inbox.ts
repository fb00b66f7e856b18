/** The inbox of a tenant: all open interrupts, as pages or as a stream of changes. */
import { type InboxChange, type InboxPage, quoted, TerminalError } from '@cairn/protocol';
import { backoff, waitAfter } from './backoff.ts';
import { type CallOptions, query, read } from './calls.ts';
import type { Connection } from './connection.ts';
import { readFrames } from './event-stream.ts';
import type { InterruptPage } from './interrupts.ts';
import { linkedAbort } from './linked-abort.ts';
import { pause, type Timers } from './timers.ts';

export interface WatchInbox {
  readonly signal?: AbortSignal;
  /** Maximum time without data, not even a keepalive, before the connection counts as dead. Default 60,000. */
  readonly silenceMs?: number;
}

export interface Inbox {
  /** One page, the oldest first. */
  list(page?: InterruptPage, options?: CallOptions): Promise<InboxPage>;
  /**
   * All that waits, then each change, until the signal says stop; reconnects by itself. After a broken connection a change
   * may come twice, or a snapshot again, which takes the place of all before it.
   */
  watch(options?: WatchInbox): AsyncIterable<InboxChange>;
}

const PATH = '/v1/host/cairn/inbox';
const DEFAULT_SILENCE_MS = 60_000;

export const inboxCalls = (connection: Connection, timers: Timers): Inbox => ({
  list: (page, options) => read(connection, `${PATH}${query({ ...page })}`, options),
  watch: (options) => watch(connection, timers, options),
});

async function* watch(
  connection: Connection,
  timers: Timers,
  { signal, silenceMs = DEFAULT_SILENCE_MS }: WatchInbox = {},
): AsyncGenerator<InboxChange, void, undefined> {
  const stop = linkedAbort(signal);
  const stream = { connection, timers, path: PATH, silenceMs, signal: stop.signal };
  let lastId: string | null = null;
  let failures = 0;
  try {
    for (;;) {
      let wait: number | null;
      try {
        for await (const { id, data } of readFrames(stream, lastId)) {
          failures = 0;
          yield changeOf(data);
          // Advances only after the consumer took the change, so that a lost one is sent again.
          lastId = id ?? lastId;
        }
        wait = backoff(failures, timers);
      } catch (error) {
        stream.signal.throwIfAborted();
        wait = waitAfter(error, failures, timers);
        if (wait === null) throw error;
      }
      await pause(timers, wait, stream.signal);
      failures += 1;
    }
  } finally {
    stop.release();
    stop.abort();
  }
}

const types: readonly unknown[] = ['snapshot', 'added', 'changed', 'removed'];

function changeOf(data: string): InboxChange {
  const change = parsed(data) as InboxChange | null;
  if (types.includes(change?.type)) return change as InboxChange;
  throw new TerminalError('internal_error', {
    message: `The host sent a frame that is no change of an inbox: ${quoted(data)}.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
