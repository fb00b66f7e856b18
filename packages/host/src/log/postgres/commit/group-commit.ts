/**
 * Commits appends that wait in one round trip, so that many runs share the cost of one flush of the database. Two batches
 * are under way at a time: the database writes one while this node admits the next.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { PassingSet } from '../../../passing-map.ts';
import { storeClosed } from '../../errors.ts';
import type { Append, Appended } from '../../ports/event-log.ts';
import { bodySize } from '../../ports/rows.ts';
import { MAX_ROWS, takeJobs } from '../../take-jobs.ts';
import type { Database, Statement } from '../database.ts';
import { isDisconnected, isSilent, isTransient, storeError } from '../errors.ts';
import type { HeadCache } from '../heads.ts';
import { type Admission, admitJobs } from './admission.ts';
import { COMMIT } from './batch.ts';
import type { Committed } from './committed.ts';
import { byContext, type Delivered, place } from './delivered.ts';
import { TenantBytes } from './facts.ts';
import { findWritten } from './find-written.ts';
import type { AppendJob } from './job.ts';

/** How often and how long a commit is tried again while the database is away. Its outcome is found out afterwards. */
const RECONNECTS = 40;
const RECONNECT_MS = 250;

/** A loss that took a whole deadline counts as so many. */
const SILENT_ATTEMPTS = 10;

/** Batches under way at a time, each of other runs. */
const LANES = 2;

/**
 * Work of at least so many rows is shared out to all lanes. Most of what a commit costs is the same for any size: two of 32
 * rows take a third more CPU of the database than one of 64, and are no faster.
 */
const SHARED_ROWS = 96;

/** How long less than the share of a lane waits for the batch under way, which may itself wait for another transaction. */
const PATIENCE_MS = 10;

/** An append whose run others keep changing is refused after so many attempts. */
const ATTEMPTS = 50;

/** Tells followers. */
export interface CommitTail {
  /** Before a transaction that writes rows. Returns what to call after it, whatever became of it. */
  begin(): () => void;
  /** A statement to send right behind a commit, which tells other nodes of it; null if they are told later. */
  behind(admission: Admission): Statement | null;
  /** In the order of each context, before the appends resolve. `isTold`: a statement behind the commit was sent. */
  deliver(delivered: readonly Delivered[], isTold: boolean): Promise<void> | void;
  /** Rows may have been written in these contexts, or not: the database does not say. Before the end of the transaction. */
  lose(contexts: Iterable<ContextId>): void;
}

export interface CommitPorts {
  readonly database: Database;
  readonly heads: HeadCache;
  /** The number of this process among those that write. */
  readonly writer: number;
  readonly tail: CommitTail;
  readonly delay: (ms: number) => Promise<void>;
}

export class GroupCommit {
  readonly bytes = new TenantBytes();
  readonly #ports: CommitPorts;
  #queue: AppendJob[] = [];
  readonly #free = Array.from({ length: LANES }, (_, lane) => lane);
  /** Runs of batches under way. What else is appended to them waits. */
  readonly #underWay = new PassingSet<RunId>();
  #rowsUnderWay = 0;
  /** Set while something little waits. */
  #patience: NodeJS.Timeout | 'over' | undefined;
  #isFilling = false;
  #isClosed = false;
  readonly #idle: (() => void)[] = [];
  #commits = 0;
  #rows = 0;

  constructor(ports: CommitPorts) {
    this.#ports = ports;
  }

  /** Transactions and rows of this process. */
  get stats(): { readonly commits: number; readonly rows: number } {
    return { commits: this.#commits, rows: this.#rows };
  }

  submit(append: Append): Promise<Appended> {
    if (this.#isClosed) return Promise.reject(storeClosed());
    return new Promise<Appended>((resolve, reject) => {
      this.#queue.push({ append, work: this.#workOf(append), attempts: 0, resolve, reject });
      this.#fillLater();
    });
  }

  /** Rejects new work and waits until all accepted work is durable or rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#queue.length > 0 || this.#free.length < LANES)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** What is submitted in this turn of the event loop shares batches. */
  #fillLater(): void {
    if (this.#isFilling || this.#free.length === 0) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      this.#fill();
    });
  }

  #fill(): void {
    for (let lane = this.#free.shift(); lane !== undefined; lane = this.#free.shift()) {
      const jobs = this.#take();
      if (jobs.length === 0) {
        this.#free.unshift(lane);
        return;
      }
      void this.#runLane(lane, jobs);
    }
  }

  /** The next batch: no more than the share of a lane, so that the others have work too. */
  #take(): readonly AppendJob[] {
    const ready = this.#queue.filter(({ append }) => !this.#underWay.has(append.runId));
    const rows = ready.reduce((sum, { work }) => sum + work.rows, this.#rowsUnderWay);
    if (ready.length === 0 || !this.#isWorthIt(rows - this.#rowsUnderWay)) return [];
    const share = rows < SHARED_ROWS ? undefined : Math.min(MAX_ROWS, Math.ceil(rows / LANES));
    const { jobs } = takeJobs(ready, share);
    const taken = new Set(jobs);
    this.#queue = this.#queue.filter((job) => !taken.has(job));
    return jobs;
  }

  /** Small batches cost more than they save: what is little waits for the batch under way, unless that one is large. */
  #isWorthIt(rows: number): boolean {
    const isWorthIt = this.#underWay.size === 0 || rows >= SHARED_ROWS / LANES || this.#rowsUnderWay >= SHARED_ROWS;
    if (isWorthIt || this.#patience === 'over') {
      if (typeof this.#patience === 'object') clearTimeout(this.#patience);
      this.#patience = undefined;
      return true;
    }
    this.#patience ??= setTimeout(() => {
      this.#patience = 'over';
      this.#fill();
    }, PATIENCE_MS);
    return false;
  }

  async #runLane(lane: number, jobs: readonly AppendJob[]): Promise<void> {
    const runs = new Set(jobs.map(({ append }) => append.runId));
    const rows = jobs.reduce((sum, { work }) => sum + work.rows, 0);
    for (const runId of runs) this.#underWay.add(runId);
    this.#rowsUnderWay += rows;
    await this.#commit(lane, jobs);
    for (const runId of runs) this.#underWay.delete(runId);
    this.#rowsUnderWay -= rows;
    this.#free.push(lane);
    if (this.#queue.length > 0) this.#fillLater();
    else if (this.#free.length === LANES) for (const go of this.#idle.splice(0)) go();
  }

  async #commit(lane: number, jobs: readonly AppendJob[]): Promise<void> {
    try {
      const admission = await admitJobs(jobs, {
        ...this.#ports,
        queries: this.#ports.database.accepted,
        bytes: this.bytes,
      });
      await this.#write(lane, admission);
      this.#queue = [...admission.deferred, ...this.#queue];
    } catch (error) {
      for (const { append, reject } of jobs) {
        this.#ports.heads.forget(append.runId);
        reject(storeError(error, this.#ports.database.place));
      }
    }
  }

  async #write(lane: number, admission: Admission): Promise<void> {
    const { tail } = this.#ports;
    const end = tail.begin();
    try {
      const sent = admission.batch.isEmpty ? { committed: nothing, isTold: true } : await this.#send(lane, admission);
      await this.#finish(admission, sent);
    } catch (error) {
      tail.lose([...admission.batch.groups.values()].map(({ head }) => head.record.contextId));
      throw error;
    } finally {
      end();
    }
  }

  /** Sends the batch until the database says what became of it. A repeated group that was written before is found. */
  async #send(lane: number, admission: Admission): Promise<Sent> {
    const { database, writer, delay, tail } = this.#ports;
    const values = admission.batch.arguments({ writer, lane, isAll: false });
    let behind = tail.behind(admission);
    let isUnsure = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const commit = { text: COMMIT, values };
        const [[text] = ['{}']] = await (behind === null
          ? database.accepted.rows<[string]>(COMMIT, values)
          : database.acceptedPair<[string]>(commit, behind));
        const answer: Committed = JSON.parse(text);
        const committed =
          isUnsure && answer.failed.length > 0 ? await findWritten(database.accepted, admission, answer) : answer;
        return { committed, isTold: behind !== null };
      } catch (error) {
        behind = null;
        const isAway = isDisconnected(error);
        if (attempt > RECONNECTS || !(isAway || isTransient(error))) throw error;
        isUnsure ||= isAway;
        if (isSilent(error)) attempt += SILENT_ATTEMPTS - 1;
        if (isAway) await delay(RECONNECT_MS);
      }
    }
  }

  async #finish({ batch, admitted, refused }: Admission, { committed, isTold }: Sent): Promise<void> {
    const { heads, tail } = this.#ports;
    const failed = new Set(committed.failed);
    this.#commits += 1;
    for (const [tenant, bytes] of Object.entries(committed.usage ?? {})) this.bytes.set(tenant, bytes);
    for (const { place, runId, head } of batch.groups.values()) {
      const key = committed.runs[place];
      if (failed.has(place) || typeof key !== 'number') heads.forget(runId);
      else heads.keep(runId, { key, head: { ...head, wakeAt: null } });
    }
    const isFailed = (runId: RunId): boolean => failed.has(batch.groups.get(runId)?.place ?? -1);
    const placed = place(admitted, isFailed, committed.cursors ?? []);
    const beforeOf = (runId: RunId) => committed.befores[batch.groups.get(runId)?.place ?? -1] ?? null;
    await tail.deliver(byContext(placed, beforeOf), isTold);
    for (const { job, appended, commit } of placed) {
      this.#rows += commit.rows.length;
      job.resolve(appended);
    }
    const again: AppendJob[] = [];
    for (const { job } of admitted) if (isFailed(job.append.runId)) again.push(job);
    for (const { job, refusal } of refused) {
      if (isFailed(job.append.runId)) again.push(job);
      else job.reject(refusal);
    }
    this.#retry(again);
  }

  #retry(jobs: readonly AppendJob[]): void {
    const again: AppendJob[] = [];
    for (const job of jobs) {
      job.attempts += 1;
      if (job.attempts < ATTEMPTS) again.push(job);
      else job.reject(storeError(new Error(`run ${job.append.runId} keeps changing`), this.#ports.database.place));
    }
    this.#queue = [...again, ...this.#queue];
  }

  #workOf({ runId, rows, create }: Append): AppendJob['work'] {
    let bytes = 0;
    for (const row of rows) bytes += bodySize(row);
    const tenant = create?.tenant ?? this.#ports.heads.identityOf(runId)?.tenant;
    return { runId, tenant, rows: rows.length, bytes };
  }
}

/** What became of a batch, and whether other nodes were told of it. */
interface Sent {
  readonly committed: Committed;
  readonly isTold: boolean;
}

const nothing: Committed = { failed: [], cursors: [], runs: [], befores: [], usage: null };
