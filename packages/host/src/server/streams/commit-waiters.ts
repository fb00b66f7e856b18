/** Lets a long poll sleep until its run moves: one follower of the log for all of them, found by run. */

import { isTerminalType, type RunId } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { Commit, EventLog, RunRows } from '../../log/ports/event-log.ts';

export interface CommitWait {
  /** Resolves when a row the range asks for is there, or the run ends, at the time limit, or when the wait is cancelled. */
  readonly woken: Promise<'commit' | 'timeout' | 'cancelled'>;
  cancel(): void;
}

type Outcome = 'commit' | 'timeout' | 'cancelled';

/** Which rows somebody waits for. */
export type AwaitedRows = Pick<RunRows, 'runId' | 'after' | 'audience'>;

interface Waiter {
  readonly rows: AwaitedRows;
  settle(outcome: Outcome): void;
}

export class CommitWaiters {
  readonly #waiters = new Map<RunId, Set<Waiter>>();
  readonly #timers: Timers;
  readonly #unfollow: () => void;

  constructor(log: EventLog, timers: Timers) {
    this.#timers = timers;
    this.#unfollow = log.follow((commit) => this.#tell(commit));
  }

  /** Starts waiting now. Do it before reading, so that a commit between the read and the wait is not missed. */
  wait(rows: AwaitedRows, timeoutMs: number): CommitWait {
    const { runId } = rows;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const waiter: Waiter = {
      rows,
      settle: (outcome) => {
        cancelTimer();
        this.#remove(runId, waiter);
        resolve(outcome);
      },
    };
    const cancelTimer = this.#timers.after(timeoutMs, () => waiter.settle('timeout'));
    const waiters = this.#waiters.get(runId);
    if (waiters === undefined) this.#waiters.set(runId, new Set([waiter]));
    else waiters.add(waiter);
    return { woken: promise, cancel: () => waiter.settle('cancelled') };
  }

  /** How many wait; for tests that prove an aborted poll leaves nothing behind. */
  get size(): number {
    let size = 0;
    for (const waiters of this.#waiters.values()) size += waiters.size;
    return size;
  }

  close(): void {
    this.#unfollow();
    for (const waiters of [...this.#waiters.values()]) for (const waiter of [...waiters]) waiter.settle('cancelled');
  }

  #tell(commit: Commit): void {
    const waiters = this.#waiters.get(commit.runId);
    if (waiters === undefined) return;
    for (const waiter of [...waiters]) if (brings(commit, waiter.rows)) waiter.settle('commit');
  }

  #remove(runId: RunId, waiter: Waiter): void {
    const waiters = this.#waiters.get(runId);
    if (waiters?.delete(waiter) && waiters.size === 0) this.#waiters.delete(runId);
  }
}

/** A position past the end waits for rows beyond it; the run's end is news to everybody. */
const brings = (commit: Commit, { after, audience }: AwaitedRows): boolean =>
  commit.rows.some(
    (row) => (row.seq > after && (audience === undefined || row.audience === audience)) || isTerminalType(row.type),
  );
