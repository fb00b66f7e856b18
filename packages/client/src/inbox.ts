/** The inbox of a tenant: all open interrupts, as pages or as a stream of changes. */
import { type InboxChange, type InboxPage, quoted, TerminalError } from '@cairn/protocol';
import { type CallOptions, query, read } from './calls.ts';
import type { Connection } from './connection.ts';
import { parsed, readFrames } from './event-stream.ts';
import type { InterruptPage } from './interrupts.ts';
import { DEFAULT_SILENCE_MS, reconnecting } from './reconnecting.ts';
import type { Timers } from './timers.ts';

export interface WatchInbox {
  readonly signal?: AbortSignal;
  /** Maximum time without data, not even a keepalive, before the connection counts as dead. Default 60,000. */
  readonly silenceMs?: number;
  /** Called when the connection broke. The next one follows by itself. */
  readonly onBreak?: () => void;
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

export const inboxCalls = (connection: Connection, timers: Timers): Inbox => ({
  list: (page, options) => read(connection, `${PATH}${query({ ...page })}`, options),
  watch: (options) => watch(connection, timers, options),
});

function watch(
  connection: Connection,
  timers: Timers,
  { signal, onBreak, silenceMs = DEFAULT_SILENCE_MS }: WatchInbox = {},
): AsyncGenerator<InboxChange, void, undefined> {
  let lastId: string | null = null;
  return reconnecting(timers, { signal, onBreak }, async function* (stop, succeeded) {
    const stream = { connection, timers, path: PATH, silenceMs, signal: stop };
    for await (const { id, data } of readFrames(stream, lastId)) {
      succeeded();
      yield changeOf(data);
      // Advances only after the consumer took the change, so that a lost one is sent again.
      lastId = id ?? lastId;
    }
    return false;
  });
}

const types: readonly unknown[] = ['snapshot', 'added', 'changed', 'removed'];

function changeOf(data: string): InboxChange {
  const change = parsed(data) as InboxChange | null;
  if (types.includes(change?.type)) return change as InboxChange;
  throw new TerminalError('internal_error', {
    message: `The host sent a frame that is not a change of an inbox: ${quoted(data)}.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
}
