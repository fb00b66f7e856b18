/** One unit of work in a transaction, and what becomes of it. */
import type { QueuedWork } from '../../take-jobs.ts';

/** A unit of work to write. */
export interface Work<Result> extends QueuedWork {
  /** Checks preconditions. Throwing here rejects only this work. */
  prepare?(): void;
  /** Performs the write. */
  apply(): Result;
  /** Called once the work is durable, in commit order, before its promise resolves. */
  committed?(result: Result): void;
}

/** Queued work and its caller. A class for speed: every append of every run creates one. */
export class Job {
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** What the write returned, or why a precondition failed. Nobody learns of it before the transaction is durable. */
  result: unknown = undefined;
  isRefused = false;

  constructor(work: Work<unknown>, resolve: Job['resolve'], reject: Job['reject']) {
    this.work = work;
    this.resolve = resolve;
    this.reject = reject;
  }
}

/** Writes within the open transaction. A failed precondition concerns this job alone. */
export function write(job: Job): void {
  const { work } = job;
  try {
    work.prepare?.();
  } catch (refusal) {
    job.result = refusal;
    job.isRefused = true;
    return;
  }
  job.result = work.apply();
}

/** Tells the followers of a job that it is durable. */
export function tell(job: Job): void {
  if (!job.isRefused) job.work.committed?.(job.result);
}

/** Reports the result to the job's caller, once it is durable and told. */
export function settle(job: Job): void {
  if (job.isRefused) job.reject(job.result);
  else job.resolve(job.result);
}
