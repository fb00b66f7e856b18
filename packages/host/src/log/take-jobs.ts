/** Chooses the queued work of the next transaction. */
import type { RunId } from '@cairn/protocol';

/** Work as the choice sees it. */
export interface QueuedWork {
  /** The run that it concerns alone. Such work may overtake that of other runs. */
  readonly runId?: RunId;
  /** The tenant that pays for it, if it is of a run: tenants take turns. Work without a tenant waits for all that came before it. */
  readonly tenant?: string | undefined;
  /** Its size, which bounds a transaction. */
  readonly rows: number;
  readonly bytes: number;
}

interface Queued {
  readonly work: QueuedWork;
}

/**
 * Limits of one transaction; the rest waits for the next turn. At 11 microseconds a row, a transaction blocks the event
 * loop for about 3 ms and a sync. Other requests run between two transactions.
 */
export const MAX_ROWS = 256;
const MAX_BYTES = 262_144;

/**
 * A small append does not wait behind large work: it joins the next transaction, up to these bytes above the limit.
 * Otherwise a tenant that writes large results delays each commit of all others by several flushes.
 */
const SMALL_BYTES = 16_384;
const OVERTAKING_BYTES = 65_536;
/** Bytes that cost as much as a row. */
const BYTES_PER_ROW = MAX_BYTES / MAX_ROWS;
/** Queued work that is looked at for small appends. */
const MAX_LOOKED_AT = 1_024;

export interface Taken<Job> {
  readonly jobs: readonly Job[];
  /** What waits for a later transaction, in order. */
  readonly left: Job[];
  readonly rows: number;
  readonly bytes: number;
}

/** `maxRows` may ask for less than the limit. */
export function takeJobs<Job extends Queued>(queue: readonly Job[], maxRows = MAX_ROWS): Taken<Job> {
  const whole = filled(queue, maxRows);
  if (whole.jobs.length === queue.length) return { ...whole, left: [] };
  const order = inFairOrder(queue);
  let { jobs, rows, bytes } = filled(order, maxRows);
  const overtaking = overtakers(order.slice(jobs.length, jobs.length + MAX_LOOKED_AT), maxRows - rows);
  for (const { work } of overtaking) {
    rows += work.rows;
    bytes += work.bytes;
  }
  jobs = [...jobs, ...overtaking];
  const taken = new Set(jobs);
  return { jobs, left: queue.filter((job) => !taken.has(job)), rows, bytes };
}

/** As much as one transaction takes from the front. */
function filled<Job extends Queued>(queue: readonly Job[], maxRows: number): Omit<Taken<Job>, 'left'> {
  let [rows, bytes, count] = [0, 0, 0];
  for (const { work } of queue) {
    if (count > 0 && (rows + work.rows > maxRows || bytes + work.bytes > MAX_BYTES)) break;
    rows += work.rows;
    bytes += work.bytes;
    count += 1;
  }
  return { jobs: queue.slice(0, count), rows, bytes };
}

/**
 * The tenants take turns by what their work costs, so that one that queues many transactions delays no other. Work
 * of a run keeps its order: the first of it in the queue says whose turn it uses.
 */
export function inFairOrder<Job extends Queued>(queue: readonly Job[]): Job[] {
  const spent = new Map<string, number>();
  const payers = new Map<RunId | undefined, string>();
  let latest = 0;
  const placed = queue.map((job) => {
    const { runId, tenant, rows, bytes } = job.work;
    const payer = payers.get(runId) ?? tenant ?? runId;
    if (payer === undefined) return { job, place: latest };
    if (runId !== undefined) payers.set(runId, payer);
    const place = spent.get(payer) ?? 0;
    spent.set(payer, place + rows + bytes / BYTES_PER_ROW);
    latest = Math.max(latest, place);
    return { job, place };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ job }) => job);
}

/** The small appends among the waiting work. Those of a run keep their order. */
function overtakers<Job extends Queued>(waiting: readonly Job[], maxRows: number): ReadonlySet<Job> {
  const taken = new Set<Job>();
  const passed = new Set<RunId | undefined>();
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
