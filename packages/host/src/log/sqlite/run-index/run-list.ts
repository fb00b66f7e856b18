/** The run list. Every set of filters has an index of its own, which gives the runs in the order of the list. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { RunStatus } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import type { ListedRun, RunPage, RunQuery } from '../../ports/run-index.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from '../columns.ts';
import { type Query, query } from '../query.ts';

/** Characters of tags, summaries and error messages on one page. One run more may fit on it, however large. */
const PAGE_CHARS = 262_144;

type ListColumns = [shown: RunStatus, ...RunColumns];

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
    if (parentRunId !== undefined) {
      const values = parentRunId === null ? [tenant] : [tenant, parentRunId];
      return pageOf(this.#family(parentRunId).iterate(...values, before, limit + 1), limit);
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
    return pageOf(statement.iterate(...values, before, limit + 1), limit);
  }

  #statement(isTagged: boolean, filters: readonly Filter[]): Query<ListColumns> {
    const set = [isTagged ? 'tag' : '', ...filters].join();
    return this.#prepared(set, () => (isTagged ? taggedSql(filters) : untaggedSql(filters)));
  }

  #family(parentRunId: string | null): Query<ListColumns> {
    return parentRunId === null
      ? this.#prepared('roots', () => familySql('runs_roots', 'IS NULL'))
      : this.#prepared('children', () => familySql('runs_by_parent', '= ?'));
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

function pageOf(found: Iterable<ListColumns>, limit: number): RunPage {
  const runs: ListedRun[] = [];
  let last = 0;
  let chars = 0;
  for (const [shownStatus, ...columns] of found) {
    if (runs.length === limit || chars > PAGE_CHARS) return { runs, nextCursor: String(last) };
    runs.push({ ...recordOf(columns), shownStatus });
    [last] = columns;
    chars += charsOf(columns);
  }
  return { runs, nextCursor: null };
}

/** The columns that have no small bound. */
const charsOf = (columns: RunColumns): number => columns[11].length + (columns[13]?.length ?? 0) + columns[21].length;
