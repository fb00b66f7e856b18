/** Tasks for A2A peers: read from the log, streamed, or awaited. The log is the only store of tasks. */
import { parseRunId } from '@cairn/protocol';
import { foldedTask } from '../../bridges/a2a/fold-task.ts';
import type { A2aTask, A2aUpdate } from '../../bridges/a2a/update.ts';
import type { Timers } from '../../engine/ports.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { Lens } from '../../log/feed/lens.ts';
import type { Chunk } from '../../log/feed/sink.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { PassingSet } from '../../passing-map.ts';
import type { Caller } from '../access/auth.ts';
import { takenOver } from '../http/large-response.ts';
import type { Call } from '../http/routes.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { caughtUp, FollowedTask } from './followed-task.ts';
import { takeOutputs } from './outputs.ts';
import { RpcError } from './rpc.ts';

export interface TaskPorts {
  readonly log: EventLog;
  readonly feed: LiveFeed;
  readonly streams: EventStreams;
  readonly timers: Timers;
  readonly hostId: string;
  readonly baseUrl: () => string;
}

export interface Task extends Pick<RunRecord, 'runId' | 'contextId' | 'workflowId' | 'tenant'> {
  /** It has just begun, and its context with it: memory has all its rows. Default: false. */
  readonly isNew?: boolean;
}

export interface StreamOptions {
  /** Sent before the updates that follow. */
  readonly first: string;
  readonly frame: (update: A2aUpdate) => string;
  /** What the task asked before this change of its status ends nothing. Undefined: what it asks now. */
  readonly after?: number | undefined;
}

export interface SettleOptions extends Pick<StreamOptions, 'after'> {
  readonly call: Call;
  readonly withinMs: number;
}

interface TaskLens extends Lens {
  readonly isDone: () => boolean;
  /** The text of the last update. */
  readonly endText: string;
}

export class A2aTasks {
  readonly #ports: TaskPorts;
  readonly #waiting = new PassingSet<() => void>();

  constructor(ports: TaskPorts) {
    this.#ports = ports;
  }

  /** The run with this id, if the caller may see it. Any other is unknown. */
  async find(text: string, { tenant }: Caller): Promise<RunRecord> {
    const runId = parseRunId(text);
    const head = runId === null ? null : await this.#ports.log.head(runId);
    if (head === null || head.record.tenant !== tenant) throw new RpcError('taskNotFound', 'There is no such task.');
    return head.record;
  }

  /** A task before its first event. */
  async begin({ runId, contextId, isNew = false }: Task): Promise<FollowedTask> {
    const { log, hostId, baseUrl } = this.#ports;
    const [first] = isNew ? [] : await log.read({ runId, after: -1, limit: 1, isForFrames: true });
    const artifacts = `${baseUrl()}/api/contexts/${encodeURIComponent(contextId)}/artifacts/`;
    return new FollowedTask({
      taskId: runId,
      hostId,
      artifactUrl: (_, artifactId) => artifacts + encodeURIComponent(artifactId),
      after: (first?.cursor ?? 1) - 1,
    });
  }

  /** A task with everything that happened so far. */
  async read(task: Task): Promise<FollowedTask> {
    const followed = await this.begin(task);
    await this.catchUp(task, followed);
    return followed;
  }

  /** Folds in what happened since. Ends with the task: what follows in its context is not read. */
  async catchUp(task: Task, followed: FollowedTask): Promise<void> {
    await caughtUp(this.#ports.log, task.contextId, followed);
    await takeOutputs(this.#ports.log, task, followed);
  }

  /** Sends the updates that follow, until the task ends or asks its caller. */
  stream(call: Call, task: Task, followed: FollowedTask, { first, frame, after }: StreamOptions): void {
    const { tenant, expiresAt } = call.caller;
    const { feed, log, streams } = this.#ports;
    const { contextId, runId } = task;
    const lens = this.#lensOf(followed, frame, after);
    const isOver = lens.isDone();
    streams.serveFrom(takenOver(call), { tenant, expiresAt, what: runId }, (sink) => {
      if (first !== '' || isOver) sink.write({ text: first, upTo: -1, urgent: true, isLast: isOver });
      if (isOver) return { resume: () => {}, close: () => {} };
      const subscription = feed.subscribe(
        { contextId, afterCursor: followed.cursor, lens, begunBy: begunBy(task) },
        {
          end: (fault) => sink.end(fault),
          write(chunk) {
            if (!lens.isDone()) return sink.write(chunk);
            subscription.close();
            void takeOutputs(log, task, followed).then(
              (outputs) => sink.write({ ...beforeEnd(chunk, outputs.map(frame).join(''), lens.endText), isLast: true }),
              (fault: unknown) => sink.end(fault),
            );
            return false;
          },
        },
      );
      return subscription;
    });
  }

  /** Resolves when the task ends or waits for input, at the latest after `withinMs` or when the caller leaves. */
  async settle(task: Task, followed: FollowedTask, options: SettleOptions): Promise<void> {
    if (followed.phase === 'over') return;
    await this.#settled(task, followed, options);
    await takeOutputs(this.#ports.log, task, followed);
  }

  async #settled(
    task: Task,
    followed: FollowedTask,
    { call, withinMs, after: before = followed.changes }: SettleOptions,
  ) {
    const { contextId } = task;
    const { feed, timers } = this.#ports;
    const { raw } = call.reply;
    const isSettled = () => followed.changes > before && followed.phase !== 'working';
    if (isSettled()) return;
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        subscription.close();
        cancel();
        raw.off('close', done);
        this.#waiting.delete(done);
      };
      const done = () => {
        leave();
        resolve();
      };
      const cancel = timers.after(withinMs, done);
      const lens = this.#lensOf(followed, () => ' ');
      const subscription = feed.subscribe(
        { contextId, afterCursor: followed.cursor, lens, begunBy: begunBy(task) },
        {
          end: (fault) => {
            leave();
            if (fault === undefined) resolve();
            else reject(fault);
          },
          write: () => {
            if (isSettled()) done();
            return true;
          },
        },
      );
      raw.on('close', done);
      this.#waiting.add(done);
      // It may have left while its message was written.
      if (raw.destroyed) done();
    });
  }

  /** The host stops: callers that wait get the task as it is. */
  close(): void {
    for (const done of [...this.#waiting]) done();
  }

  /** It sees every row once. */
  #lensOf(followed: FollowedTask, frame: (update: A2aUpdate) => string, before: number = followed.changes): TaskLens {
    const isDone = () => followed.phase === 'over' || (followed.phase === 'asks' && followed.changes > before);
    const instants = new Instants();
    let updates: readonly A2aUpdate[] = [];
    let endText = '';
    return {
      key: null,
      face: 'task',
      nameOf: (_, row) => {
        if (isDone()) return null;
        updates = followed.take(row, instants.textOf(row.at));
        return updates.length === 0 ? null : 'a2a';
      },
      render: () => {
        const texts = updates.map(frame);
        endText = texts.at(-1) ?? '';
        return texts.join('');
      },
      get endText() {
        return endText;
      },
      separator: '',
      isDone,
    };
  }
}

const begunBy = (task: Task): Task | undefined => (task.isNew === true ? task : undefined);

/** The chunk with a text before its end. */
function beforeEnd(chunk: Chunk, added: string, end: string): Chunk {
  if (added === '') return chunk;
  const [text = '', ...rest] = [chunk.text, ...(chunk.rest ?? [])].toSpliced(-1, 1, ...lastWith(chunk, added, end));
  return { ...chunk, text, rest };
}

function lastWith({ text, rest = [] }: Chunk, added: string, end: string): readonly string[] {
  const last = rest.at(-1) ?? text;
  return last.endsWith(end) ? [last.slice(0, last.length - end.length), added, end] : [last, added];
}

/** The task as far as it was followed. Only a purged run has none. */
export function shownTask(followed: FollowedTask, historyLength: number | undefined): A2aTask {
  const task = foldedTask(followed.fold);
  if (task === null) throw new RpcError('taskNotFound', 'There is no such task.');
  return historyLength === 0 ? { ...task, history: [] } : task;
}
