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

export interface Job {
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of a job, reported once its transaction ends. */
export type JobResult = { readonly job: Job } & ({ readonly result: unknown } | { readonly refusal: unknown });

/** Writes within the open transaction. A failed precondition concerns this job alone. */
export function write(job: Job): JobResult {
  try {
    job.work.prepare?.();
  } catch (refusal) {
    return { job, refusal };
  }
  return { job, result: job.work.apply() };
}

/** Reports the result to the job's caller, once it is durable. */
export function answer(result: JobResult): void {
  const { job } = result;
  if ('refusal' in result) {
    job.reject(result.refusal);
    return;
  }
  job.work.committed?.(result.result);
  job.resolve(result.result);
}
