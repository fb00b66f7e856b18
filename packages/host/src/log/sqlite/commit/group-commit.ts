/** Commits all work of one event loop turn in one transaction, so that many runs share the cost of one flush. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CairnError } from '@cairn/protocol';
import { storeClosed } from '../../errors.ts';
import { takeJobs } from '../../take-jobs.ts';
import { flushFailed, storeError } from '../errors.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { DiskSpeed } from './disk-speed.ts';
import { Job, tell, type Work, write } from './job.ts';

/** A flush in the thread pool adds 0.1 ms but frees the event loop: worth it for this many rows or bytes, or a slow disk. */
const POOL_ROWS = 128;
const POOL_BYTES = 65_536;

export interface CommitHooks {
  /** Runs in every transaction, after its work. */
  beforeCommit(): void;
  /** The transaction was rolled back, and values cached from it may be wrong. */
  rolledBack(): void;
  /** The transaction is durable and its followers know. */
  afterCommit(rows: number, bytes: number): void;
  /** Reads and writes fail from now on. */
  broken(error: CairnError): void;
}

/** Makes committed data durable. Calls back with null, or with the error. */
export type Flush = (done: (error: unknown) => void) => void;

export interface CommitOptions {
  readonly file: string;
  readonly flush: Flush;
  readonly hooks: CommitHooks;
  readonly elapsedMs: ElapsedMs;
}

/** A monotonic clock with any origin, used to detect a slow disk. */
export type ElapsedMs = () => number;

/** Runs a query once the data it sees is durable, or rejects it when the store is closed. */
export type Read = <Result>(query: () => Result) => Result | Promise<Result>;

/** A query that waits for its data to become durable. */
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
  #queuedRows = 0;
  /** The work of a committed transaction that is not yet flushed to disk. */
  #unflushed: readonly Job[] | null = null;
  readonly #acknowledgements: Acknowledgements;
  #pendingReads: PendingRead[] = [];
  /** Set once the content of the disk is unknown. */
  #broken: CairnError | null = null;
  #level: 'FULL' | 'NORMAL' = 'FULL';
  readonly #disk = new DiskSpeed();
  #scheduled = false;
  #held = false;
  #isDiskBusy = false;
  #closed = false;
  #drained: (() => void) | null = null;
  #commits = 0;

  constructor(db: DatabaseSync, { file, flush, hooks, elapsedMs }: CommitOptions) {
    this.#db = db;
    this.#file = file;
    this.#flush = flush;
    this.#hooks = hooks;
    this.#elapsedMs = elapsedMs;
    this.#acknowledgements = new Acknowledgements({ elapsedMs, allKnow: () => this.#goOn() });
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /** Transactions committed since the store was opened. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether a flush failed. Then only another process can continue with the file. */
  get isBroken(): boolean {
    return this.#broken !== null;
  }

  submit<Result>(work: Work<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(storeClosed());
    if (this.#broken !== null) return Promise.reject(this.#broken);
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push(new Job(work, resolve as Job['resolve'], reject));
      this.#queuedRows += work.rows;
      this.#schedule();
    });
  }

  /** Reads durable data: at once, or after the pending flush. */
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

  /** Queues new work without blocking the event loop. */
  hold(): void {
    this.#held = true;
  }

  resume(): void {
    this.#held = false;
    if (this.#queue.length > 0) this.#schedule();
  }

  /** Flushes only in the thread pool while something else writes much to the disk. */
  diskIsBusy(isBusy: boolean): void {
    this.#isDiskBusy = isBusy;
  }

  /** Rejects new work and waits until all accepted work is durable or rejected, and its callers know. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#unflushed === null && !this.#acknowledgements.isUnderWay;
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
    else if (this.#isIdle) this.#drained?.();
  }

  #take(): { readonly jobs: readonly Job[]; readonly isLarge: boolean } {
    const { jobs, left, rows, bytes } = takeJobs(this.#queue);
    this.#queue = left;
    this.#queuedRows -= rows;
    return { jobs, isLarge: rows >= POOL_ROWS || bytes >= POOL_BYTES };
  }

  /** Commits queued work in one transaction. One that overtakes another must not be acknowledged before it. */
  #transact(order: 'after' | 'overtakes'): void {
    const { jobs, isLarge } = this.#take();
    const isInPool = order === 'overtakes' || isLarge || this.#isDiskBusy || this.#disk.isSlow;
    try {
      this.#syncAtCommit(!isInPool);
      this.#begin.get();
      for (const job of jobs) write(job);
      this.#hooks.beforeCommit();
      const begun = this.#elapsedMs();
      this.#commit.get();
      if (!isInPool) this.#disk.waited(this.#elapsedMs() - begun);
    } catch (error) {
      this.#fail(jobs, storeError(error, this.#file));
      return;
    }
    this.#commits += 1;
    if (isInPool) this.#flushInPool(jobs);
    else this.#acknowledge(jobs);
  }

  #syncAtCommit(wanted: boolean): void {
    const level = wanted ? 'FULL' : 'NORMAL';
    if (level === this.#level) return;
    this.#db.exec(`PRAGMA synchronous = ${level}`);
    this.#level = level;
  }

  #flushInPool(jobs: readonly Job[]): void {
    this.#unflushed = jobs;
    this.#flush((error) => {
      this.#unflushed = null;
      this.#disk.passed();
      if (error === null) this.#flushed(jobs);
      else this.#failFlush(jobs, flushFailed(error, this.#file));
    });
  }

  /**
   * Callers react to the acknowledgement with more work. If a large transaction waits, its flush begins before that.
   * A small one waits for their work too: flushing the two in turns would double the commits of a busy host.
   */
  #flushed(jobs: readonly Job[]): void {
    for (const read of this.#pendingReads.splice(0)) read();
    if (!this.#held && this.#queuedRows >= POOL_ROWS) this.#transact('overtakes');
    this.#acknowledge(jobs);
    this.#goOn();
  }

  /** Followers hear of the whole transaction at once, in its order. Callers go on in slices. */
  #acknowledge(jobs: readonly Job[]): void {
    let rows = 0;
    let bytes = 0;
    for (const job of jobs) {
      rows += job.work.rows;
      bytes += job.work.bytes;
      tell(job);
    }
    this.#hooks.afterCommit(rows, bytes);
    this.#acknowledgements.add(jobs);
  }

  /** Rejects every job: a single refusal may depend on another job that was not written. */
  #fail(jobs: readonly Job[], error: CairnError): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#hooks.rolledBack();
    for (const job of jobs) job.reject(error);
  }

  /**
   * The data is written but perhaps not on disk, which may have dropped it. A later successful flush would not prove
   * otherwise. A row read now could be lost later, so all reads and writes fail.
   */
  #failFlush(jobs: readonly Job[], error: CairnError): void {
    this.#broken = error;
    this.#hooks.rolledBack();
    for (const job of [...jobs, ...this.#queue.splice(0)]) job.reject(error);
    for (const read of this.#pendingReads.splice(0)) read();
    this.#drained?.();
    this.#hooks.broken(error);
  }
}
