/** Purges runs: takes them out of the index, then turns their rows into tombstones and deletes what else they had. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { FullHead } from '../../admit.ts';
import { forkGoesOn, type PurgeStep, stillActive } from '../../ports/purges.ts';
import type { HeadCache } from '../append/head-cache.ts';
import { ArtifactTables } from '../artifacts/artifact-tables.ts';
import type { BlobTables } from '../blobs/blob-tables.ts';
import type { Work } from '../commit/job.ts';
import { defineMarks, FROZEN_COLUMNS, PURGED_RUN_COLUMNS, TOMBSTONE_COLUMNS } from '../marks.ts';
import { type Query, query } from '../query.ts';
import { ROW_BYTES, type TenantBytes } from '../run-index/tenant-usage.ts';
import type { SharedValues } from '../values/shared-values.ts';
import { DroppedMemories } from './dropped-memories.ts';

/** Rows of one step. Moving a row takes about 50 microseconds. */
export const STEP_ROWS = 64;

/** Bytes of one step. A row that is larger is a step of its own. */
const STEP_BYTES = 1_048_576;

/** Runs below a run that one step retires. Each leaves eight indexes. */
const STEP_RUNS = 32;

/** Checkpoints that one step deletes. One may have megabytes. */
const STEP_CHECKPOINTS = 2;

const nothing: PurgeStep = { events: 0, bytes: 0, memories: 0, retired: [], isDone: false };

export interface PurgerPorts {
  readonly heads: HeadCache;
  readonly usage: TenantBytes;
  readonly blobs: BlobTables;
  readonly values: SharedValues;
}

export class Purger {
  readonly #heads: HeadCache;
  readonly #usage: TenantBytes;
  readonly #blobs: BlobTables;
  readonly #shared: SharedValues;
  readonly #artifacts: ArtifactTables;
  readonly #memories: DroppedMemories;
  readonly #retired: Query<[key: number, tenant: string, purgedAt: number]>;
  readonly #endedChildren: Query<[id: RunId]>;
  readonly #retire: StatementSync;
  readonly #dropRun: StatementSync;
  readonly #activeFork: Query<[id: RunId]>;
  readonly #freeze: StatementSync;
  readonly #dropTag: StatementSync;
  readonly #sizes: Query<[seq: number, bytes: number]>;
  readonly #bury: StatementSync;
  readonly #dropRows: StatementSync;
  readonly #values: Query<[key: number, bytes: number]>;
  readonly #dropValue: StatementSync;
  /** Each deletes some rows of a table that have the run's key. */
  readonly #records: readonly StatementSync[];
  readonly #checkpoints: readonly [StatementSync, StatementSync];

  constructor(db: DatabaseSync, { heads, usage, blobs, values }: PurgerPorts) {
    this.#heads = heads;
    this.#usage = usage;
    this.#blobs = blobs;
    this.#shared = values;
    this.#artifacts = new ArtifactTables(db);
    this.#memories = new DroppedMemories(db);
    defineMarks(db);
    this.#retired = query(db, 'SELECT key, tenant, purged_at FROM purged_runs WHERE id = ?');
    this.#endedChildren = query(
      db,
      `SELECT id FROM runs INDEXED BY runs_by_parent
         WHERE parent = ? AND (ended_at IS NOT NULL OR imported_at IS NOT NULL) ORDER BY key LIMIT ?`,
    );
    this.#retire = db.prepare(
      `INSERT INTO purged_runs (${PURGED_RUN_COLUMNS}, unfinished, mark)
         SELECT *, 1, mark_of(${PURGED_RUN_COLUMNS}) FROM (SELECT ${numbered(PURGED_RUN_COLUMNS)})`,
    );
    this.#activeFork = query(
      db,
      `WITH RECURSIVE tree (id, key) AS (
         SELECT id, key FROM runs WHERE key = ?
         UNION ALL
         SELECT runs.id, runs.key FROM tree CROSS JOIN runs INDEXED BY runs_by_parent ON runs.parent = tree.id
       )
       SELECT runs.id FROM tree CROSS JOIN shared_rows ON shared_rows.owner = tree.key
         CROSS JOIN runs ON runs.key = shared_rows.run WHERE runs.ended_at IS NULL
       UNION ALL
       SELECT runs.id FROM tree CROSS JOIN runs INDEXED BY runs_with_source
         ON runs.fork_source = tree.id AND runs.ended_at IS NULL
       LIMIT 1`,
    );
    this.#freeze = db.prepare(
      `UPDATE runs SET frozen = mark_of(${FROZEN_COLUMNS}) WHERE key IN (SELECT runs.key FROM shared_rows
         CROSS JOIN runs ON runs.key = shared_rows.run WHERE shared_rows.owner = ? AND runs.frozen IS NULL
           AND runs.ended_at IS NOT NULL LIMIT ${STEP_RUNS})`,
    );
    this.#dropRun = db.prepare('DELETE FROM runs WHERE key = ?');
    this.#dropTag = db.prepare('DELETE FROM run_tags WHERE tenant = ? AND tag = ? AND run = ?');
    this.#sizes = query(db, `SELECT seq, ${ROW_BYTES} FROM events WHERE run = ? ORDER BY seq LIMIT ${STEP_ROWS}`);
    this.#bury = db.prepare(
      `INSERT INTO tombstones (${TOMBSTONE_COLUMNS}, mark)
         SELECT ${TOMBSTONE_COLUMNS}, mark_of(${TOMBSTONE_COLUMNS}) FROM events WHERE run = ? AND seq <= ?`,
    );
    this.#dropRows = db.prepare('DELETE FROM events WHERE run = ? AND seq <= ?');
    this.#values = query(
      db,
      `SELECT key, octet_length(body) FROM large_values WHERE run = ? ORDER BY hash LIMIT ${STEP_ROWS}`,
    );
    this.#dropValue = db.prepare('DELETE FROM large_values WHERE key = ?');
    this.#records = [
      'interrupts WHERE place IN (SELECT place FROM interrupts WHERE run = ?',
      `context_segments WHERE (context, cursor) IN
         (SELECT context, cursor FROM context_segments INDEXED BY context_segments_by_run WHERE run = ?`,
      'idempotency WHERE place IN (SELECT place FROM idempotency INDEXED BY idempotency_by_run WHERE run = ?',
    ].map((some) => db.prepare(`DELETE FROM ${some} LIMIT ${STEP_ROWS})`));
    const dropSome = (table: string): StatementSync =>
      db.prepare(
        `DELETE FROM ${table} WHERE run = ?1 AND seq IN (SELECT seq FROM ${table} WHERE run = ?1 LIMIT ${STEP_CHECKPOINTS})`,
      );
    this.#checkpoints = [dropSome('checkpoints'), dropSome('index_checkpoints')];
  }

  retirement(runId: RunId, at: number): Work<void> {
    return {
      rows: STEP_RUNS,
      bytes: 0,
      prepare: () => {
        const entry = this.#heads.get(runId);
        if (entry === null) return;
        if (!isOver(entry.head)) throw stillActive(entry.head.record);
        this.#heads.save();
        const [fork] = this.#activeFork.get(entry.key) ?? [];
        if (fork !== undefined) throw forkGoesOn(runId, fork);
      },
      apply: () => {
        this.#heads.save(); // the table must have what this transaction did to the run
        this.#retireRun(runId, at);
      },
    };
  }

  purgeSome(runId: RunId): PurgeStep {
    const [key, tenant, purgedAt] = this.#retired.get(runId) ?? [];
    if (key === undefined || tenant === undefined || purgedAt === undefined) return { ...nothing, isDone: true };
    this.#heads.save();
    const below = this.#endedChildren.all(runId, STEP_RUNS).map(([id]) => id);
    for (const id of below) this.#retireRun(id, purgedAt);
    if (below.length > 0) return { ...nothing, retired: below };
    if (Number(this.#freeze.run(key).changes) > 0) return nothing;
    if (this.#hasDroppedRecords(key, runId)) return nothing;
    const rows = this.#buryRows(key, tenant);
    if (rows !== null) return { ...nothing, ...rows };
    if (this.#hasDroppedValues(key) || this.#hasDroppedArtifacts(key, purgedAt)) return nothing;
    const memories = this.#memories.remove(key, STEP_ROWS);
    return { ...nothing, memories, isDone: memories === 0 };
  }

  #retireRun(runId: RunId, at: number): void {
    const entry = this.#heads.get(runId);
    if (entry === null) return;
    const { key, head } = entry;
    const { tenant, contextId, originRunId, parentRunId, tags, fork } = head.record;
    const source = [fork?.sourceRunId ?? null, fork?.fromSeq ?? null, fork?.mode ?? null] as const;
    // Rows that are not part of the saved total yet are found through their run, which is about to go.
    this.#usage.remove(tenant, 0);
    const { seq, hash } = head;
    this.#retire.run(key, runId, tenant, contextId, originRunId, parentRunId, ...source, at, seq, hash);
    for (const tag of new Set(tags)) this.#dropTag.run(tenant, tag, key);
    this.#dropRun.run(key);
    this.#heads.forget(runId);
  }

  #hasDroppedRecords(key: number, runId: RunId): boolean {
    const [states, indexes] = this.#checkpoints;
    const dropped = [...this.#records.map((drop) => drop.run(key)), states.run(runId), indexes.run(key)];
    return dropped.some(({ changes }) => Number(changes) > 0);
  }

  #buryRows(key: number, tenant: string): { readonly events: number; readonly bytes: number } | null {
    const { count, last, bytes } = upTo(STEP_BYTES, this.#sizes.all(key));
    if (last === null) return null;
    this.#bury.run(key, last);
    this.#dropRows.run(key, last);
    this.#usage.remove(tenant, bytes);
    return { events: count, bytes };
  }

  #hasDroppedArtifacts(key: number, at: number): boolean {
    return this.#artifacts.forgetSome(key) || this.#blobs.forgetSome(key, at);
  }

  #hasDroppedValues(key: number): boolean {
    const values = this.#values.all(key);
    const { count } = upTo(STEP_BYTES, values);
    for (const [value] of values.slice(0, count)) this.#dropValue.run(value);
    if (count > 0) this.#shared.clear();
    return count > 0;
  }
}

/** A parameter for each column. */
const numbered = (columns: string): string =>
  columns
    .split(', ')
    .map((name, i) => `?${i + 1} AS ${name}`)
    .join(', ');

/** The first items, until they have this many bytes together; at least one. */
function upTo(maxBytes: number, items: readonly (readonly [place: number, bytes: number])[]) {
  let bytes = 0;
  let count = 0;
  let last: number | null = null;
  for (const [place, size] of items) {
    if (bytes >= maxBytes) break;
    bytes += size;
    count += 1;
    last = place;
  }
  return { bytes, count, last };
}

/** An imported run never goes on here, whatever its rows say. */
const isOver = ({ record }: FullHead): boolean => record.endedAt !== null || record.importedAt !== null;
