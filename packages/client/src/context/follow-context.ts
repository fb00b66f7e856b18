/** Follows a context across broken connections and restarts of the host, without gaps or repeats. */
import { quoted, RetryableError, type TaskEvent, TerminalError } from '@cairn/protocol';
import type { EventSourceMessage } from 'eventsource-parser';
import { query } from '../calls.ts';
import type { Wire } from '../client.ts';
import { parsed, readFrames } from '../event-stream.ts';
import { DEFAULT_SILENCE_MS, reconnecting } from '../reconnecting.ts';
import { filterQuery, type TaskEventFilter } from './filter.ts';
import { type ReadToken, tokenNow } from './read-token.ts';

export interface FollowContextOptions extends TaskEventFilter {
  /**
   * Only events after this cursor; `0` is the whole history, `latest` only what is new. Left out: everything since the
   * oldest open task began, then what is new.
   */
  readonly after?: number | 'latest';
  /** While behind, joins deltas of text and leaves out progress that is out of date. The state after them is the same. */
  readonly coalesce?: boolean;
  readonly signal?: AbortSignal;
  /** Maximum time without data, not even a keepalive, before the connection counts as dead. Default 60,000. */
  readonly silenceMs?: number;
  /** Called when the connection broke. The next one follows by itself. */
  readonly onBreak?: () => void;
}

/** What the stream says about itself, in the order of the events. */
export type StreamNotice =
  /** Everything up to this cursor was sent; the rest is live. Comes once for each connection. */
  | { readonly kind: 'stream:caught-up'; readonly cursor: number }
  /** The log is shorter than the client has seen, as after a restore. What came before no longer counts; the events begin again. */
  | { readonly kind: 'stream:reset'; readonly reason: string; readonly oldest: number; readonly head: number };

export type ContextEvent = TaskEvent | StreamNotice;

export interface ContextAddress {
  /** `/api/contexts/{contextId}`. */
  readonly path: string;
  /** A read token of the context, for a page without a key. */
  readonly token: ReadToken | undefined;
}

export function followContext(
  { connection, timers }: Wire,
  { path, token }: ContextAddress,
  { after, signal, onBreak, coalesce, silenceMs = DEFAULT_SILENCE_MS, ...filter }: FollowContextOptions,
): AsyncGenerator<ContextEvent, void, undefined> {
  let start = after;
  /** The last cursor; null before the first connection says where it begins. */
  let last: number | null = null;
  return reconnecting(timers, { signal, onBreak }, async function* (stop, succeeded) {
    const readToken = await tokenNow(token);
    const asked = query({ after: start, ...filterQuery(filter), coalesce: coalesce ? 1 : undefined, token: readToken });
    const stream = { connection, timers, path: `${path}/stream${asked}`, silenceMs, signal: stop };
    for await (const frame of readFrames(stream, last === null ? null : String(last))) {
      const item = itemOf(frame);
      switch (item.kind) {
        case 'stream:ready':
          // Without this, `latest` would mean a later place on the next connection.
          last ??= item.from;
          break;
        case 'stream:closing':
          throw closed(item);
        case 'stream:reset':
          last = null;
          // The reader's own events up to its `after` no longer count either.
          start = typeof start === 'number' ? 0 : start;
          yield item;
          return false;
        case 'stream:caught-up':
          succeeded();
          last = Math.max(last ?? 0, item.cursor);
          yield item;
          break;
        case 'stream:unknown':
          break;
        default:
          if (item.cursor <= (last ?? 0)) continue;
          succeeded();
          last = item.cursor;
          yield item;
      }
    }
    return false;
  });
}

type Item =
  | ContextEvent
  | { readonly kind: 'stream:ready'; readonly from: number }
  | Closing
  /** A notice of a later version. */
  | { readonly kind: 'stream:unknown' };

interface Closing {
  readonly kind: 'stream:closing';
  readonly reason: string;
  readonly retryAfterMs?: number;
}

const notices = ['stream:ready', 'stream:caught-up', 'stream:reset', 'stream:closing'];

/** What a frame says. Throws if it is neither a task event nor a notice. */
export function itemOf({ event = '', data }: Pick<EventSourceMessage, 'event' | 'data'>): Item {
  const content = parsed(data);
  if (typeof content === 'object' && content !== null) {
    if (notices.includes(event)) return { ...content, kind: event } as Item;
    if (event.startsWith('stream:')) return { kind: 'stream:unknown' };
    if (isTaskEvent(content)) return content;
    // A row for operators that is no task event.
    if ('sequence' in content) return { kind: 'stream:unknown' };
  }
  throw new TerminalError('internal_error', {
    message: `The host sent a frame that is not a task event: ${quoted(data)}.`,
    hint: 'This is a defect of the host or of a proxy between.',
  });
}

/** Kinds of later versions pass. */
const isTaskEvent = (value: object): value is TaskEvent =>
  'kind' in value && typeof value.kind === 'string' && 'cursor' in value && Number.isSafeInteger(value.cursor);

const closed = ({ reason, retryAfterMs }: Closing): RetryableError =>
  new RetryableError('service_unavailable', {
    message: `The host closed the stream: ${reason}.`,
    ...(retryAfterMs !== undefined && { details: { retryAfterMs } }),
  });
