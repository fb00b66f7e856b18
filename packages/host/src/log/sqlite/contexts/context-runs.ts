/** The runs of a context, and the questions they asked. Open runs have an index of their own. */
import type { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import type { ContextRunsPage, ContextRunsQuery } from '../../ports/contexts.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import {
  INTERRUPT_COLUMNS,
  type InterruptColumns,
  interruptOf,
  RUN_COLUMNS,
  type RunColumns,
  recordOf,
} from '../columns.ts';
import { type Query, query } from '../query.ts';

export class ContextRuns {
  readonly #all: Query<RunColumns>;
  readonly #open: Query<RunColumns>;
  readonly #oldestOpen: Query<RunColumns>;
  readonly #children: Query<RunColumns>;
  readonly #interrupts: Query<[runId: RunId, ...InterruptColumns]>;

  constructor(db: DatabaseSync) {
    // `?2` is 0 for all runs, 1 for those without a parent.
    const runs = (index: string, where: string) =>
      query<RunColumns>(
        db,
        `SELECT ${RUN_COLUMNS} FROM runs INDEXED BY ${index}
           WHERE context = ?1 AND (?2 = 0 OR parent IS NULL) AND key < ?3 ${where} ORDER BY key DESC LIMIT ?4`,
      );
    this.#all = runs('runs_by_context', '');
    this.#open = runs('runs_open_in_context', 'AND ended_at IS NULL AND imported_at IS NULL');
    this.#oldestOpen = query(
      db,
      `SELECT ${RUN_COLUMNS} FROM runs INDEXED BY runs_open_in_context
         WHERE context = ? AND ended_at IS NULL AND imported_at IS NULL ORDER BY key LIMIT 1`,
    );
    this.#children = query(
      db,
      `SELECT ${RUN_COLUMNS} FROM runs INDEXED BY runs_by_parent
         WHERE context = ?1 AND parent = ?2 AND key < ?3 ORDER BY key DESC LIMIT ?4`,
    );
    this.#interrupts = query(
      db,
      `SELECT runs.id, ${INTERRUPT_COLUMNS} FROM interrupts INDEXED BY interrupts_by_id
         CROSS JOIN runs ON runs.key = interrupts.run
         WHERE interrupts.id = ? AND runs.context = ? ORDER BY interrupts.open DESC, interrupts.place LIMIT 2`,
    );
  }

  page({ contextId, parentRunId, isOpen, limit, cursor }: ContextRunsQuery): ContextRunsPage {
    const before = parseListCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
    const rows =
      typeof parentRunId === 'string'
        ? this.#children.all(contextId, parentRunId, before, limit + 1)
        : (isOpen === true ? this.#open : this.#all).all(contextId, parentRunId === null ? 1 : 0, before, limit + 1);
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? String(page.at(-1)?.[0] ?? '') : null;
    const runs = page
      .map(recordOf)
      .filter(({ endedAt, importedAt }) => isOpen !== true || (endedAt === null && importedAt === null));
    return { runs, nextCursor };
  }

  oldestOpen(contextId: ContextId): RunRecord | null {
    const found = this.#oldestOpen.get(contextId);
    return found === undefined ? null : recordOf(found);
  }

  interrupts(contextId: ContextId, interruptId: string): readonly InterruptRecord[] {
    return this.#interrupts.all(interruptId, contextId).map(([runId, ...columns]) => interruptOf(runId, columns));
  }
}
