/** One transaction for all that was asked in one turn of the event loop: many runs share the cost of one sync. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CairnError } from '@cairn/protocol';
import { storeClosed } from '../refusals.ts';
import { storeError } from './errors.ts';

/**
 * A transaction takes no more than this, and the rest waits for the next turn: at 11 microseconds a row it keeps the
 * event loop for about 3 ms and a sync, and other requests come between two transactions.
 */
const MAX_ROWS = 256;
const MAX_BYTES = 1_048_576;

/** Something to be written. */
export interface Work<Result> {
  /** What it weighs, to bound a transaction. */
  readonly rows: number;
  readonly bytes: number;
  /** Checks what must hold. To throw here refuses this work alone. */
  prepare?(): void;
  /** Writes it. */
  apply(): Result;
  /** Called once it is durable, in commit order, before anyone who awaits it goes on. */
  committed?(result: Result): void;
}

export interface CommitHooks {
  /** Part of every transaction, after its work. */
  beforeCommit(): void;
  /** Nothing of the transaction counts, and what was cached of it may be wrong. */
  rolledBack(): void;
  /** The transaction is durable and everyone was told. */
  afterCommit(rows: number, bytes: number): void;
}

interface Job {
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a job of a transaction came out, told once the transaction did. */
type Outcome = { readonly job: Job } & ({ readonly result: unknown } | { readonly refusal: unknown });

export class GroupCommit {
  readonly #file: string;
  readonly #hooks: CommitHooks;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #queue: Job[] = [];
  #scheduled = false;
  #held = false;
  #closed = false;
  #drained: (() => void) | null = null;
  #commits = 0;

  constructor(db: DatabaseSync, file: string, hooks: CommitHooks) {
    this.#db = db;
    this.#file = file;
    this.#hooks = hooks;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /** Transactions committed since the store was opened. */
  get commits(): number {
    return this.#commits;
  }

  submit<Result>(work: Work<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(storeClosed());
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as Job['resolve'], reject });
      this.#schedule();
    });
  }

  /** Keeps what is asked from now on waiting, without keeping the event loop. */
  hold(): void {
    this.#held = true;
  }

  resume(): void {
    this.#held = false;
    if (this.#queue.length > 0) this.#schedule();
  }

  /** Accepts nothing more and waits until all that was accepted is written or refused. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#held) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#held) return;
      this.#flush(this.#take());
      if (this.#queue.length > 0) this.#schedule();
      else this.#drained?.();
    });
  }

  #take(): readonly Job[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const job of this.#queue) {
      rows += job.work.rows;
      bytes += job.work.bytes;
      if (count > 0 && (rows > MAX_ROWS || bytes > MAX_BYTES)) break;
      count += 1;
    }
    const taken = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return taken;
  }

  #flush(jobs: readonly Job[]): void {
    let outcomes: readonly Outcome[];
    try {
      this.#begin.run();
      outcomes = jobs.map(write);
      this.#hooks.beforeCommit();
      this.#commit.run();
    } catch (error) {
      this.#fail(jobs, storeError(error, this.#file));
      return;
    }
    let rows = 0;
    let bytes = 0;
    for (const { work } of jobs) {
      rows += work.rows;
      bytes += work.bytes;
    }
    this.#commits += 1;
    for (const outcome of outcomes) settle(outcome);
    this.#hooks.afterCommit(rows, bytes);
  }

  /** A refusal among them may rest on a neighbour that was not written, so none of them is told. */
  #fail(jobs: readonly Job[], error: CairnError): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#hooks.rolledBack();
    for (const job of jobs) job.reject(error);
  }
}

function write(job: Job): Outcome {
  try {
    job.work.prepare?.();
  } catch (refusal) {
    return { job, refusal };
  }
  return { job, result: job.work.apply() };
}

function settle(outcome: Outcome): void {
  const { job } = outcome;
  if ('refusal' in outcome) {
    job.reject(outcome.refusal);
    return;
  }
  job.work.committed?.(outcome.result);
  job.resolve(outcome.result);
}
