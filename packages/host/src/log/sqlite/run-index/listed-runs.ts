/**
 * What lists filter by beside the columns of a run: its tags, and the waits of the runs below it. It changes in the
 * transaction that changes the run. Runs without tags and without a parent cost nothing here.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId, RunStatus } from '@cairn/protocol';
import type { RunRecord } from '../../ports/run-index.ts';
import { isWaiting } from '../../shown-status.ts';
import { parseTexts } from '../columns.ts';
import { WAITING } from '../folder/list-indexes.ts';
import { type Query, query, required } from '../query.ts';

type Listed = Pick<RunRecord, 'tenant' | 'workflowId' | 'tags'>;

type ParentColumns = [
  key: number,
  tenant: string,
  workflowId: string,
  tags: string,
  shown: RunStatus,
  childWait: RunStatus | null,
  parentRunId: RunId | null,
];

export class ListedRuns {
  readonly #addTag: StatementSync;
  readonly #saveTag: StatementSync;
  readonly #dropTag: StatementSync;
  readonly #dropTags: StatementSync;
  readonly #saveWait: StatementSync;
  readonly #tag: Query<[workflowId: string, shown: RunStatus]>;
  readonly #shown: Query<[shown: RunStatus, childWait: RunStatus | null]>;
  readonly #parent: Query<ParentColumns>;
  readonly #waitingChild: Query<[shown: RunStatus]>;

  constructor(db: DatabaseSync) {
    this.#addTag = db.prepare('INSERT INTO run_tags (tenant, tag, run, workflow, shown) VALUES (?, ?, ?, ?, ?)');
    this.#saveTag = db.prepare('UPDATE run_tags SET shown = ? WHERE tenant = ? AND tag = ? AND run = ?');
    this.#dropTag = db.prepare('DELETE FROM run_tags WHERE tenant = ? AND tag = ? AND run = ?');
    this.#dropTags = db.prepare('DELETE FROM run_tags WHERE tenant = ? AND run = ?');
    this.#saveWait = db.prepare('UPDATE runs SET child_wait = ? WHERE key = ?');
    this.#tag = query(db, 'SELECT workflow, shown FROM run_tags WHERE tenant = ? AND tag = ? AND run = ?');
    this.#shown = query(db, 'SELECT shown, child_wait FROM runs WHERE key = ?');
    this.#parent = query(
      db,
      `SELECT key, tenant, workflow, tags, shown, child_wait, parent FROM runs
         WHERE id = ? AND imported_at IS NULL`,
    );
    this.#waitingChild = query(
      db,
      `SELECT shown FROM runs INDEXED BY runs_waiting_children
         WHERE parent = ? AND imported_at IS NULL AND ${WAITING} ORDER BY key LIMIT 1`,
    );
  }

  /** Call after the row of a new run is in the table. */
  created(key: number, run: RunRecord): void {
    this.#addTags(key, run, run.status);
    if (run.parentRunId !== null && run.importedAt === null && isWaiting(run.status)) this.#raise(run.parentRunId);
  }

  /** Call with the record of the run as it was listed. */
  dropTags(key: number, { tenant, tags }: Listed): void {
    for (const tag of tags) this.#dropTag.run(tenant, tag, key);
  }

  /** Call after the row of a run with another status is in the table. */
  statusChanged(key: number, run: RunRecord, before: RunStatus): void {
    if (run.tags.length === 0 && run.parentRunId === null) return;
    const [shown, childWait] = required(this.#shown.get(key), 'run-key-exists');
    this.#saveTags(key, run, shown);
    if (run.parentRunId === null || run.importedAt !== null) return;
    if (childWait !== null || isWaiting(before) || isWaiting(shown)) this.#raise(run.parentRunId);
  }

  /** Whether the tables agree with the record of a run and with its children. */
  isRight(key: number, run: RunRecord): boolean {
    const [shown, childWait] = required(this.#shown.get(key), 'run-key-exists');
    if (childWait !== this.#waitOf(run)) return false;
    return run.tags.every((tag) => {
      const [workflowId, status] = this.#tag.get(run.tenant, tag, key) ?? [];
      return workflowId === run.workflowId && status === shown;
    });
  }

  /** Writes everything anew after the row of a run was repaired. */
  repair(key: number, run: RunRecord): void {
    this.#saveWait.run(this.#waitOf(run), key);
    const [shown] = required(this.#shown.get(key), 'run-key-exists');
    this.#dropTags.run(run.tenant, key);
    this.#addTags(key, run, shown);
    if (run.parentRunId !== null) this.#raise(run.parentRunId);
  }

  #waitOf({ runId, importedAt }: RunRecord): RunStatus | null {
    return importedAt === null ? this.#childWait(runId) : null;
  }

  #childWait(runId: RunId): RunStatus | null {
    return this.#waitingChild.get(runId)?.[0] ?? null;
  }

  /** Lets the wait of a child, or its end, rise to a run and the runs above it. Families are at most 8 levels deep. */
  #raise(runId: RunId): void {
    let id: RunId | null = runId;
    while (id !== null) {
      const parent: ParentColumns | undefined = this.#parent.get(id);
      if (parent === undefined) return;
      const [key, tenant, workflowId, tags, before, childWait, above] = parent;
      const wait = this.#childWait(id);
      if (wait === childWait) return;
      this.#saveWait.run(wait, key);
      const [shown] = required(this.#shown.get(key), 'run-key-exists');
      if (shown === before) return;
      this.#saveTags(key, { tenant, workflowId, tags: parseTexts(tags) }, shown);
      id = above;
    }
  }

  #addTags(key: number, { tenant, tags, workflowId }: Listed, shown: RunStatus): void {
    if (tags.length === 0) return;
    for (const tag of new Set(tags)) this.#addTag.run(tenant, tag, key, workflowId, shown);
  }

  #saveTags(key: number, { tenant, tags }: Listed, shown: RunStatus): void {
    for (const tag of tags) this.#saveTag.run(shown, tenant, tag, key);
  }
}
