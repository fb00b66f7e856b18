/** The run list. Every set of filters has an index of its own, which gives the runs in the order of the list. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { parseListCursor } from '../../errors.ts';
import type { RunPage, RunQuery } from '../../ports/run-index.ts';
import { type ListColumns, RUN_COLUMNS, runPageOf } from '../../run-columns.ts';
import { type Query, query } from '../query.ts';

type Filter = 'workflow' | 'shown';

export class RunList {
  readonly #db: DatabaseSync;
  /** Keyed by the set of filters. */
  readonly #statements = new Map<string, Query<ListColumns>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  page({ tenant, status, workflowId, tag, parentRunId, limit, cursor }: RunQuery): RunPage {
    const before = parseListCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
    if (parentRunId === null) return runPageOf(this.#withoutParent(tenant, before, limit), limit);
    if (parentRunId !== undefined) {
      const children = this.#prepared('children', () => familySql('runs_by_parent', '= ?'));
      return runPageOf(children.iterate(tenant, parentRunId, before, limit + 1), limit);
    }
    const filters: Filter[] = [];
    const values: SQLInputValue[] = [tenant];
    if (tag !== undefined) values.push(tag);
    if (workflowId !== undefined) {
      filters.push('workflow');
      values.push(workflowId);
    }
    if (status !== undefined) {
      filters.push('shown');
      values.push(status);
    }
    const statement = this.#statement(tag !== undefined, filters);
    return runPageOf(statement.iterate(...values, before, limit + 1), limit);
  }

  #statement(isTagged: boolean, filters: readonly Filter[]): Query<ListColumns> {
    const set = [isTagged ? 'tag' : '', ...filters].join();
    return this.#prepared(set, () => (isTagged ? taggedSql(filters) : untaggedSql(filters)));
  }

  /** Imported children are looked at only as far as the page reaches: a large tree costs those pages that it is on. */
  *#withoutParent(tenant: string, before: number, limit: number): Generator<ListColumns> {
    const roots = this.#prepared('roots', () => familySql('runs_roots', 'IS NULL'));
    const orphans = this.#prepared('orphans', () => orphanSql);
    let above = before;
    for (const root of roots.iterate(tenant, before, limit + 1)) {
      const [, key] = root;
      yield* orphans.iterate(tenant, key, above, limit + 1);
      yield root;
      above = key;
    }
    yield* orphans.iterate(tenant, 0, above, limit + 1);
  }

  #prepared(set: string, sql: () => string): Query<ListColumns> {
    const known = this.#statements.get(set);
    if (known !== undefined) return known;
    const statement = query<ListColumns>(this.#db, sql());
    this.#statements.set(set, statement);
    return statement;
  }
}

const familySql = (index: string, parent: string): string =>
  `SELECT runs.shown, ${RUN_COLUMNS} FROM runs INDEXED BY ${index}
    WHERE runs.tenant = ? AND runs.parent ${parent} AND runs.key < ? ORDER BY runs.key DESC LIMIT ?`;

/** Imported runs whose parent is not here, between two runs of the list. */
const orphanSql = `SELECT runs.shown, ${RUN_COLUMNS} FROM runs INDEXED BY runs_imported_children
    WHERE runs.tenant = ? AND runs.parent IS NOT NULL AND runs.imported_at IS NOT NULL AND runs.key > ? AND runs.key < ?
      AND NOT EXISTS (SELECT 1 FROM runs AS above WHERE above.id = runs.parent AND above.tenant = runs.tenant)
    ORDER BY runs.key DESC LIMIT ?`;

function untaggedSql(filters: readonly Filter[]): string {
  const index = filters.length === 0 ? 'runs_by_tenant' : `runs_by_${filters.join('_')}`;
  return `SELECT runs.shown, ${RUN_COLUMNS} FROM runs INDEXED BY ${index}
    WHERE runs.tenant = ? ${filters.map((filter) => `AND runs.${filter} = ?`).join(' ')} AND runs.key < ?
    ORDER BY runs.key DESC LIMIT ?`;
}

/** A tag without another filter uses the primary key of the tags. CROSS JOIN keeps SQLite from starting at the runs. */
function taggedSql(filters: readonly Filter[]): string {
  const index = filters.length === 0 ? '' : `INDEXED BY run_tags_by_${filters.join('_')}`;
  return `SELECT runs.shown, ${RUN_COLUMNS} FROM run_tags AS tags ${index} CROSS JOIN runs ON runs.key = tags.run
    WHERE tags.tenant = ? AND tags.tag = ? ${filters.map((filter) => `AND tags.${filter} = ?`).join(' ')}
      AND tags.run < ?
    ORDER BY tags.run DESC LIMIT ?`;
}
