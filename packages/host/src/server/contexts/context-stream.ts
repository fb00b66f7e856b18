/** Streams of task events: of a whole context, or of one task until it ends. */
import type { ServerResponse } from 'node:http';
import { type ContextId, isTerminalType, isWaitSaid, newTaskWait, type TaskEventKind } from '@cairn/protocol';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Lens } from '../../log/feed/lens.ts';
import type { Sink, Subscription } from '../../log/feed/sink.ts';
import type { Row } from '../../log/ports/rows.ts';
import { kindOf } from '../../log/tasks/face-columns.ts';
import { everyTaskEvent, type TaskStreamFilter } from '../../log/tasks/task-filter.ts';
import { taskEventOf, taskLens } from '../../log/tasks/task-frame.ts';
import type { Caller } from '../access/auth.ts';
import type { EventStreams } from '../streams/event-streams.ts';

export interface ContextStreamPorts {
  readonly feed: LiveFeed;
  readonly streams: EventStreams;
}

interface ContextStream {
  readonly caller: Caller;
  readonly contextId: ContextId;
  /** The cursor after which it begins, and the newest one. */
  readonly from: number;
  readonly head: number;
  /** The oldest cursor, if the client names a cursor of its own. */
  readonly oldest?: number;
}

interface TaskStream extends ContextStream {
  readonly taskId: string;
  readonly closesOnWait: boolean;
}

/** How long a client waits before it connects again. */
const RETRY_MS = 1_000;

/** Control frames have no id and are never logged. */
const control = (name: string, data: object): string => `event: stream:${name}\ndata: ${JSON.stringify(data)}\n\n`;

const ready = ({ from, head }: ContextStream): string =>
  `retry: ${RETRY_MS}\n\n${control('ready', { from: Math.min(from, head), head })}`;

interface Reset {
  readonly reason: 'cursor-ahead' | 'history-purged';
  readonly oldest: number;
  readonly head: number;
}

/**
 * The client has to read the state again: its cursor is after the newest one, as after a restore, or events that follow
 * it were purged.
 */
export function resetOf({ from, head, oldest = 0 }: Pick<ContextStream, 'from' | 'head' | 'oldest'>): Reset | null {
  if (from > head) return { reason: 'cursor-ahead', oldest: Math.max(1, oldest), head };
  return from < oldest - 1 ? { reason: 'history-purged', oldest, head } : null;
}

function reset(stream: ContextStream): string {
  const found = resetOf(stream);
  return found === null ? '' : control('reset', found);
}

const closing = (reason: string, more: object = {}): string => control('closing', { reason, ...more });

export class ContextStreams {
  readonly #ports: ContextStreamPorts;

  constructor(ports: ContextStreamPorts) {
    this.#ports = ports;
  }

  /** The whole context, until the client leaves. */
  serveContext(response: ServerResponse, stream: ContextStream & { readonly filter: TaskStreamFilter }): void {
    const { feed, streams } = this.#ports;
    const { contextId, filter } = stream;
    serve(streams, response, stream, (sink) => {
      const afterCursor = Math.min(stream.from, stream.head);
      const range = { contextId, afterCursor, lens: taskLens(filter), record: recordOf(stream) };
      return feed.subscribe(range, { ...sink, level: levelled(sink) });
    });
  }

  /** One task and those below it, until it ends, or with `closesOnWait` until it waits. */
  serveTask(response: ServerResponse, stream: TaskStream): void {
    const { feed, streams } = this.#ports;
    const { contextId, from, taskId } = stream;
    const task = new WatchedTask(stream);
    serve(streams, response, stream, (sink) => {
      const subscription = feed.subscribe(
        { contextId, afterCursor: from, lens: task.lens, record: recordOf(stream) },
        {
          end: (fault) => sink.end(fault),
          write(chunk) {
            if (task.end === null) return sink.write(chunk);
            sink.write({ ...chunk, text: chunk.text + closing(task.end, { taskId }), isLast: true });
            subscription.close();
            return false;
          },
        },
      );
      return subscription;
    });
  }
}

/** Whose the context is was looked up when the request was admitted. */
const recordOf = ({ caller, contextId }: ContextStream) => ({ contextId, tenant: caller.tenant, endedAt: null });

function serve(
  streams: EventStreams,
  response: ServerResponse,
  stream: ContextStream,
  subscribe: (sink: Sink) => Subscription,
): void {
  const { caller, contextId } = stream;
  let told = stream.from;
  const served = {
    tenant: caller.tenant,
    expiresAt: caller.expiresAt,
    what: contextId,
    /** Moves the client's last id past what its filter hides, without dispatching anything. */
    alive: (subscription: Subscription | null) => {
      const position = subscription?.position ?? told;
      if (position <= told) return '';
      told = position;
      return `id: ${position}\n`;
    },
    farewell: closing('draining', { retryAfterMs: RETRY_MS }),
    reproach: closing('slow-consumer'),
  };
  streams.serveFrom(response, served, (sink) => {
    sink.write({ text: ready(stream) + reset(stream), upTo: -1, urgent: true, isLast: false });
    return subscribe({
      ...sink,
      write: (chunk) => {
        told = Math.max(told, chunk.upTo);
        return sink.write(chunk);
      },
    });
  });
}

const levelled = (sink: Sink) => (cursor: number) =>
  void sink.write({ text: control('caught-up', { cursor }), upTo: -1, urgent: true, isLast: false });

/** Looks for the end of a task while its rows are rendered. Its lens sees every row. */
class WatchedTask {
  /** Why the stream ends; null while it goes on. */
  end: 'task-ended' | 'task-waiting' | null = null;
  readonly lens: Lens;

  constructor({ taskId, closesOnWait }: TaskStream) {
    const wait = newTaskWait();
    const lens = taskLens({ ...everyTaskEvent, taskId, subtree: true });
    this.lens = {
      ...lens,
      key: null,
      nameOf: (type, row) => {
        if (this.end !== null) return null;
        if (row.runId === taskId && isTerminalType(type)) this.end = 'task-ended';
        if (row.runId === taskId && closesOnWait && isOfWait(row) && isWaitSaid(wait, taskEventOf(row, ''))) {
          this.end = 'task-waiting';
        }
        return lens.nameOf(type, row);
      },
    };
  }
}

/** Kinds that a wait is made of. Nothing else is parsed. */
const waitKinds: ReadonlySet<TaskEventKind | null> = new Set<TaskEventKind>([
  'task-status',
  'input-required',
  'input-received',
  'auth-required',
  'auth-completed',
]);

const isOfWait = ({ face }: Row): boolean => waitKinds.has(kindOf(face));
