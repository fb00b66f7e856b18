/** Follows the run of a tool call through the live feed, and wakes the call when something happens. */
import type { RunId } from '@cairn/protocol';
import type { LiveFeed } from '../../log/feed/feed.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { Subscription } from '../../log/feed/sink.ts';
import type { FollowedTask } from '../a2a/followed-task.ts';
import type { StartedRun } from './tools.ts';

export interface WatchOptions {
  readonly feed: LiveFeed;
  readonly run: StartedRun;
  /** What follows is folded into it. */
  readonly task: FollowedTask;
  /** Called after what the client may be told about. */
  readonly onProgress: (phase: string) => void;
}

export class RunWatch {
  readonly runId: RunId;
  readonly task: FollowedTask;
  readonly #options: WatchOptions;
  #subscription: Subscription | null = null;
  #wake: (() => void)[] = [];
  #fault: unknown;
  /** The host stops, or the client left. */
  isStopped = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.runId = options.run.runId;
    this.task = options.task;
  }

  /** Begins to follow the run at the first listener. */
  begin(): void {
    const { feed, run, task, onProgress } = this.#options;
    const instants = new Instants();
    const lens = {
      key: null,
      face: 'task' as const,
      nameOf: (_: string, row: Parameters<FollowedTask['take']>[0]) => {
        const updates = this.task.take(row, instants.textOf(row.at));
        if (updates.some((update) => update.type !== 'artifact' || !update.append)) onProgress(this.task.phase);
        return 'mcp';
      },
      render: () => ' ',
      separator: '' as const,
    };
    this.#subscription = feed.subscribe(
      { contextId: run.contextId, afterCursor: task.cursor, lens, begunBy: run.isNew ? run : undefined },
      {
        write: () => {
          this.#wakeAll();
          return true;
        },
        end: (fault) => {
          this.#fault = fault;
          this.stop();
        },
      },
    );
  }

  /** Resolves when something happened, or the watch stopped. Rejects if the log cannot be read. */
  async changed(): Promise<void> {
    if (!this.isStopped) await new Promise<void>((resolve) => this.#wake.push(resolve));
    if (this.#fault !== undefined) throw this.#fault;
  }

  stop(): void {
    this.isStopped = true;
    this.#wakeAll();
  }

  close(): void {
    this.#subscription?.close();
    this.stop();
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
