/** Purges: removes the content of runs in small steps, and gives the space back. */
import { type RunId, TerminalError } from '@cairn/protocol';
import type { RunRecord } from './run-index.ts';

/**
 * A purge has three parts. `retire` takes a root run out of the index: from then on it reads as purged. `purgeSome`
 * removes its content and retires the runs below it, one small transaction at a time. `finish` ends it. After a crash,
 * `unfinished` leads to what is left.
 */
export interface Purges {
  /**
   * Takes an ended root run out of the index. Does nothing for a run that does not exist any more. Fails with `conflict`
   * while the run, or a fork of it or of a run below it, goes on. From then on, no run of the tree can be forked.
   */
  retire(runId: RunId, at: number): Promise<void>;
  /** Removes some content of a retired run, and retires some of the runs that it started. */
  purgeSome(runId: RunId): Promise<PurgeStep>;
  /** Notes that nothing of a retired run is left to remove. */
  finish(runId: RunId): Promise<void>;
  /** Retired runs that are not finished, at most `limit`. */
  unfinished(limit: number): Promise<readonly RunId[]>;
  /** Gives some of the free space back to the disk. Returns what is left of it. */
  releaseSome(): Promise<FreeSpace>;
  /** Lets the file shrink to what `releaseSome` left. */
  shrink(): Promise<void>;
}

/** What one step removed. */
export interface PurgeStep {
  readonly events: number;
  /** As quotas count them. */
  readonly bytes: number;
  readonly memories: number;
  /** Runs below it that were retired, and are purged next. */
  readonly retired: readonly RunId[];
  /** Whether anything is left. */
  readonly isDone: boolean;
}

export interface FreeSpace {
  readonly bytes: number;
  /** Whether this database can give space back at all. */
  readonly isReleasable: boolean;
}

export const stillActive = ({ runId, status }: Pick<RunRecord, 'runId' | 'status'>): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} is ${status}; only a run that has ended can be purged.`,
    hint: 'Cancel it first.',
    details: { runId, runStatus: status },
  });

export const forkGoesOn = (runId: RunId, fork: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} cannot be purged while run ${fork}, a fork of it or of a run below it, goes on.`,
    hint: `Cancel run ${fork} first, or wait until it has ended.`,
    details: { runId, forks: [fork] },
  });
