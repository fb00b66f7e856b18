/** One transaction for all that was asked in one turn of the event loop: many runs share the cost of one flush. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CairnError } from '@cairn/protocol';
import { storeClosed } from '../errors.ts';
import { flushFailed, storeError } from './errors.ts';

/**
 * A transaction takes no more than this, and the rest waits for the next turn: at 11 microseconds a row it keeps the
 * event loop for about 3 ms and a sync, and other requests come between two transactions.
 */
const MAX_ROWS = 256;
const MAX_BYTES = 1_048_576;

/** A flush by a thread of the pool costs 0.1 ms more, and leaves the event loop free: worth it for so many rows, or a slow disk. */
const POOL_ROWS = 128;
const SLOW_MS = 1;

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
  /** A transaction is durable and everyone was told. */
  afterCommit(rows: number, bytes: number): void;
  /** Nothing is read or written from now on. */
  broken(error: CairnError): void;
}

/** Makes durable what was committed; called back with null, or with what went wrong. */
export type Flush = (done: (error: unknown) => void) => void;

export interface CommitOptions {
  readonly file: string;
  readonly flush: Flush;
  readonly hooks: CommitHooks;
  readonly elapsedMs: ElapsedMs;
}

/** A clock that only goes forward, from any beginning: what a slow disk is known by. */
export type ElapsedMs = () => number;

/** Runs a query once what it sees is durable, or refuses it when the store is closed. */
export type Read = <Result>(query: () => Result) => Result | Promise<Result>;

interface Job {
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a job of a transaction came out, told once the transaction did. */
type JobResult = { readonly job: Job } & ({ readonly result: unknown } | { readonly refusal: unknown });

/** A transaction that is written, and durable once the disk has flushed it. */
interface Unflushed {
  readonly jobs: readonly Job[];
  readonly results: readonly JobResult[];
}

/** A query that waits until what it would see is durable. */
type PendingRead = () => void;

export class GroupCommit {
  readonly #file: string;
  readonly #flush: Flush;
  readonly #hooks: CommitHooks;
  readonly #elapsedMs: ElapsedMs;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #queue: Job[] = [];
  #unflushed: Unflushed | null = null;
  #pendingReads: PendingRead[] = [];
  /** Set once nobody can tell what the disk holds. */
  #broken: CairnError | null = null;
  #level: 'FULL' | 'NORMAL' = 'FULL';
  /** What the last flush took. */
  #flushMs = 0;
  #scheduled = false;
  #held = false;
  #closed = false;
  #drained: (() => void) | null = null;
  #commits = 0;

  constructor(db: DatabaseSync, { file, flush, hooks, elapsedMs }: CommitOptions) {
    this.#db = db;
    this.#file = file;
    this.#flush = flush;
    this.#hooks = hooks;
    this.#elapsedMs = elapsedMs;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /** Transactions committed since the store was opened. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether a flush has failed, so that only another process can go on with the file. */
  get isBroken(): boolean {
    return this.#broken !== null;
  }

  submit<Result>(work: Work<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(storeClosed());
    if (this.#broken !== null) return Promise.reject(this.#broken);
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as Job['resolve'], reject });
      this.#schedule();
    });
  }

  /** Asks the database for what is durable: at once, or when the flush that is under way has ended. */
  read<Result>(query: () => Result): Result | Promise<Result> {
    if (this.#broken !== null) throw this.#broken;
    if (this.#unflushed === null) return query();
    return new Promise<Result>((resolve, reject) => {
      this.#pendingReads.push(() => {
        try {
          resolve(this.read(query));
        } catch (error) {
          reject(error);
        }
      });
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

  /** Accepts nothing more and waits until all that was accepted is durable or refused. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length === 0 && this.#unflushed === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#held || this.#unflushed !== null) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#held) return;
      this.#transact('after');
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#unflushed === null) this.#drained?.();
  }

  #take(): { readonly jobs: readonly Job[]; readonly rows: number } {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { work } of this.#queue) {
      if (count > 0 && (rows + work.rows > MAX_ROWS || bytes + work.bytes > MAX_BYTES)) break;
      rows += work.rows;
      bytes += work.bytes;
      count += 1;
    }
    const jobs = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return { jobs, rows };
  }

  /** One transaction of what waits. One that overtakes another must not be told of before it. */
  #transact(order: 'after' | 'overtakes'): void {
    const { jobs, rows } = this.#take();
    const isInPool = order === 'overtakes' || rows >= POOL_ROWS || this.#flushMs >= SLOW_MS;
    let results: readonly JobResult[];
    try {
      this.#syncAtCommit(!isInPool);
      this.#begin.run();
      results = jobs.map(write);
      this.#hooks.beforeCommit();
      const begun = this.#elapsedMs();
      this.#commit.run();
      if (!isInPool) this.#flushMs = this.#elapsedMs() - begun;
    } catch (error) {
      this.#fail(jobs, storeError(error, this.#file));
      return;
    }
    this.#commits += 1;
    if (isInPool) this.#flushInPool({ jobs, results });
    else this.#acknowledge({ jobs, results });
  }

  #syncAtCommit(wanted: boolean): void {
    const level = wanted ? 'FULL' : 'NORMAL';
    if (level === this.#level) return;
    this.#db.exec(`PRAGMA synchronous = ${level}`);
    this.#level = level;
  }

  #flushInPool(unflushed: Unflushed): void {
    this.#unflushed = unflushed;
    const begun = this.#elapsedMs();
    this.#flush((error) => {
      this.#unflushed = null;
      this.#flushMs = this.#elapsedMs() - begun;
      if (error === null) this.#flushed(unflushed);
      else this.#failFlush(unflushed, flushFailed(error, this.#file));
    });
  }

  /** The next transaction is on its way to the disk before those of this one are told, who have much to do then. */
  #flushed(unflushed: Unflushed): void {
    for (const read of this.#pendingReads.splice(0)) read();
    if (this.#queue.length > 0 && !this.#held) this.#transact('overtakes');
    this.#acknowledge(unflushed);
    this.#goOn();
  }

  #acknowledge({ jobs, results }: Unflushed): void {
    let rows = 0;
    let bytes = 0;
    for (const { work } of jobs) {
      rows += work.rows;
      bytes += work.bytes;
    }
    for (const result of results) answer(result);
    this.#hooks.afterCommit(rows, bytes);
  }

  /** A refusal among them may rest on a neighbour that was not written, so none of them is told. */
  #fail(jobs: readonly Job[], error: CairnError): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#hooks.rolledBack();
    for (const job of jobs) job.reject(error);
  }

  /**
   * Written and perhaps not on the disk, which may have dropped it: a later flush that succeeds would say nothing of it.
   * What is read now could be gone tomorrow, so nothing is.
   */
  #failFlush({ jobs }: Unflushed, error: CairnError): void {
    this.#broken = error;
    this.#hooks.rolledBack();
    for (const job of [...jobs, ...this.#queue.splice(0)]) job.reject(error);
    for (const read of this.#pendingReads.splice(0)) read();
    this.#drained?.();
    this.#hooks.broken(error);
  }
}

function write(job: Job): JobResult {
  try {
    job.work.prepare?.();
  } catch (refusal) {
    return { job, refusal };
  }
  return { job, result: job.work.apply() };
}

function answer(result: JobResult): void {
  const { job } = result;
  if ('refusal' in result) {
    job.reject(result.refusal);
    return;
  }
  job.work.committed?.(result.result);
  job.resolve(result.result);
}
