/** Chooses the queued work of the next transaction. */
import type { Job, Work } from './job.ts';

/**
 * Limits of one transaction; the rest waits for the next turn. At 11 microseconds a row, a transaction blocks the event
 * loop for about 3 ms and a sync. Other requests run between two transactions.
 */
const MAX_ROWS = 256;
const MAX_BYTES = 262_144;

/**
 * A small append does not wait behind large work: it joins the next transaction, up to these bytes above the limit.
 * Otherwise a tenant that writes large results delays each commit of all others by several flushes.
 */
const SMALL_BYTES = 16_384;
const OVERTAKING_BYTES = 65_536;
/** Queued work that is looked at for small appends. */
const MAX_LOOKED_AT = 1_024;

export interface Taken {
  readonly jobs: readonly Job[];
  /** What waits for a later transaction, in order. */
  readonly left: Job[];
  readonly rows: number;
  readonly bytes: number;
}

export function takeJobs(queue: readonly Job[]): Taken {
  let [rows, bytes, count] = [0, 0, 0];
  for (const { work } of queue) {
    if (count > 0 && (rows + work.rows > MAX_ROWS || bytes + work.bytes > MAX_BYTES)) break;
    rows += work.rows;
    bytes += work.bytes;
    count += 1;
  }
  const jobs = queue.slice(0, count);
  if (count === queue.length) return { jobs, left: [], rows, bytes };
  const overtaking = overtakers(queue.slice(count, count + MAX_LOOKED_AT), MAX_ROWS - rows);
  for (const { work } of overtaking) {
    rows += work.rows;
    bytes += work.bytes;
  }
  const left = queue.slice(count).filter((job) => !overtaking.has(job));
  return { jobs: [...jobs, ...overtaking], left, rows, bytes };
}

/** The small appends among the waiting work. Those of a run keep their order. */
function overtakers(waiting: readonly Job[], maxRows: number): ReadonlySet<Job> {
  const taken = new Set<Job>();
  const passed = new Set<Work<unknown>['runId']>();
  let [rows, bytes] = [0, 0];
  for (const job of waiting) {
    const { work } = job;
    const isSmall = work.bytes <= SMALL_BYTES && rows + work.rows <= maxRows && bytes + work.bytes <= OVERTAKING_BYTES;
    if (work.runId === undefined || !isSmall || passed.has(work.runId)) {
      passed.add(work.runId);
      continue;
    }
    rows += work.rows;
    bytes += work.bytes;
    taken.add(job);
  }
  return taken;
}
