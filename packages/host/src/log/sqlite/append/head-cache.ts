/** Heads of the runs this process writes. The folder lock makes this bounded cache authoritative. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { invariant, type RunId } from '@cairn/protocol';
import { PassingMap } from '../../../passing-map.ts';
import type { FullHead } from '../../admit.ts';
import { chainStart } from '../../chain.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import {
  INTERRUPT_COLUMNS,
  type InterruptColumns,
  interruptOf,
  RUN_COLUMNS,
  type RunColumns,
  recordOf,
  summaryText,
} from '../columns.ts';
import { lastRowReader } from '../forks/last-row.ts';
import { type LastRow, SharedRows, type Stretches } from '../forks/stretches.ts';
import { type Query, query } from '../query.ts';
import type { ListedRuns } from '../run-index/listed-runs.ts';

/** Number of cached runs; a miss costs three reads. */
const CAPACITY = 10_000;

export interface CachedHead {
  readonly key: number;
  head: FullHead;
  readonly stretches: Stretches;
}

export class HeadCache {
  /** Two generations: entries used since the last rotation, and before it. Reading a young entry moves nothing. */
  #young = new Map<RunId, CachedHead>();
  #old = new Map<RunId, CachedHead>();
  readonly #run: Query<[fence: number, owner: string | null, wakeAt: number | null, ...RunColumns]>;
  readonly #lastOf: (stretches: Stretches) => LastRow | null;
  readonly #shared: SharedRows;
  readonly #open: Query<InterruptColumns>;
  readonly #saveStart: StatementSync;
  readonly #saveNode: StatementSync;
  readonly #saveSummary: StatementSync;
  readonly #saveRun: StatementSync;
  readonly #saveLease: StatementSync;
  /** Entries with an unsaved record or lease, with the state the table has. */
  readonly #unsaved = new PassingMap<CachedHead, FullHead>();
  readonly #listed: ListedRuns;

  constructor(db: DatabaseSync, listed: ListedRuns) {
    this.#listed = listed;
    this.#run = query(db, `SELECT runs.fence, runs.owner, runs.wake_at, ${RUN_COLUMNS} FROM runs WHERE runs.id = ?`);
    this.#lastOf = lastRowReader(db);
    this.#shared = new SharedRows(db);
    this.#open = query(db, `SELECT ${INTERRUPT_COLUMNS} FROM interrupts WHERE run = ? AND open = 1 ORDER BY place`);
    this.#saveStart = db.prepare(
      'UPDATE runs SET workflow = ?, definition = ?, principal = ?, tags = ?, scope = ? WHERE key = ?',
    );
    // An update rewrites the entry of every index over a column that it sets, even if the value stays the same. Most
    // appends only move the run to another node, which no index covers.
    this.#saveNode = db.prepare('UPDATE runs SET node = ? WHERE key = ?');
    this.#saveSummary = db.prepare('UPDATE runs SET summary = ?, node = ? WHERE key = ?');
    this.#saveRun = db.prepare(
      `UPDATE runs SET status = ?, node = ?, error_code = ?, error_message = ?, ended_at = ?, fence = ?, owner = ?,
         wake_at = ? WHERE key = ?`,
    );
    this.#saveLease = db.prepare('UPDATE runs SET fence = ?, owner = ?, wake_at = ? WHERE key = ?');
  }

  get(runId: RunId): CachedHead | null {
    const young = this.#young.get(runId);
    if (young !== undefined) return young;
    const old = this.#old.get(runId);
    if (old !== undefined) {
      this.keep(runId, old);
      return old;
    }
    const loaded = this.#load(runId);
    if (loaded !== null) this.keep(runId, loaded);
    return loaded;
  }

  /** Without a read: undefined unless the run is in memory. */
  tenantOf(runId: RunId): string | undefined {
    return (this.#young.get(runId) ?? this.#old.get(runId))?.head.record.tenant;
  }

  keep(runId: RunId, entry: CachedHead): void {
    this.#young.set(runId, entry);
    if (this.#young.size < CAPACITY / 2) return;
    // An entry touched by a transaction is young or becomes old here, so it is never evicted before it is saved.
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Sets a run's new state; `save` writes it to the table. */
  set(entry: CachedHead, head: FullHead): void {
    const stored = this.#unsaved.get(entry) ?? entry.head;
    entry.head = head;
    if (head.record !== stored.record || !sameLease(head, stored)) this.#unsaved.set(entry, stored);
  }

  /** Writes each changed run once, even if several appends of the transaction changed it. */
  save(): void {
    for (const [{ key, head }, stored] of this.#unsaved) {
      const { record: run, fence, owner, wakeAt } = head;
      if (run === stored.record) {
        this.#saveLease.run(fence, owner, wakeAt, key);
        continue;
      }
      const { status, currentNodeId, errorCode, errorMessage, endedAt } = run;
      const isTold = run.summary !== stored.record.summary;
      if (isTold) this.#saveSummary.run(summaryText(run.summary), currentNodeId, key);
      if (onlyMoved(head, stored)) {
        if (!isTold) this.#saveNode.get(currentNodeId, key);
        continue;
      }
      this.#saveRun.run(status, currentNodeId, errorCode, errorMessage, endedAt, fence, owner, wakeAt, key);
      if (run.tags !== stored.record.tags) this.#start(key, run, stored.record);
      else if (status !== stored.record.status) this.#listed.statusChanged(key, run, stored.record.status);
    }
    this.#unsaved.clear();
  }

  /** A run usually starts in its first append. `run.started` sets these columns, once; a fork may get other tags. */
  #start(key: number, run: RunRecord, before: RunRecord): void {
    const { workflowId, definitionHash, principal, tags, scopeId } = run;
    this.#saveStart.run(workflowId, definitionHash, principal, JSON.stringify(tags), scopeId, key);
    this.#listed.dropTags(key, before);
    this.#listed.created(key, run);
  }

  /** The next use reloads the run from the table. */
  forget(runId: RunId): void {
    this.#young.delete(runId);
    this.#old.delete(runId);
  }

  /** Clears the cache after a transaction with an unknown outcome. */
  clear(): void {
    this.#unsaved.clear();
    this.#young.clear();
    this.#old.clear();
  }

  #load(runId: RunId): CachedHead | null {
    const found = this.#run.get(runId);
    if (found === undefined) return null;
    const [fence, owner, wakeAt, ...run] = found;
    const [key] = run;
    const record = recordOf(run);
    const stretches = this.#shared.of(key, record.fork);
    const { seq, hash, at } = this.#lastOf(stretches) ?? noRows(record);
    const open = new Map<string, InterruptRecord>();
    for (const columns of this.#open.all(key)) {
      const interrupt = interruptOf(runId, columns);
      open.set(interrupt.interruptId, interrupt);
    }
    return { key, head: { record, open, seq, hash, at, fence, owner, wakeAt }, stretches };
  }
}

/** Only a fork at the first row exists without rows. */
function noRows({ runId, originRunId, fork }: RunRecord): Pick<FullHead, 'seq' | 'hash' | 'at'> {
  invariant(fork?.fromSeq === 0, 'run-has-rows', { runId });
  return { seq: -1, hash: chainStart(originRunId), at: 0 };
}

const onlyMoved = (head: FullHead, stored: FullHead): boolean => {
  const { record: now } = head;
  const { record: before } = stored;
  return (
    now.status === before.status &&
    now.errorCode === before.errorCode &&
    now.errorMessage === before.errorMessage &&
    now.endedAt === before.endedAt &&
    now.tags === before.tags &&
    sameLease(head, stored)
  );
};

const sameLease = (a: FullHead, b: FullHead): boolean =>
  a.fence === b.fence && a.owner === b.owner && a.wakeAt === b.wakeAt;
