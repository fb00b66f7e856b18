/** The run list. Every filter uses an index, even `running`, which the index by status excludes. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { parseListCursor } from '../errors.ts';
import type { RunPage, RunQuery } from '../ports/run-index.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from './columns.ts';
import { type Query, query } from './query.ts';

type Filter = readonly [text: string, ...values: SQLInputValue[]];

/** Repeats the condition of the partial index by status, so that SQLite can use it. */
const INDEXED = "AND runs.status <> 'running'";

/** Runs scanned first for the `running` filter: running runs are mostly among the newest. */
const NEWEST = 2_000;

/** A running run is leased or has a wake time. A run imported while running has neither. */
const GOING_ON = `runs.key IN (
  SELECT key FROM runs WHERE owner IS NOT NULL
  UNION ALL SELECT key FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL
  UNION ALL SELECT key FROM runs WHERE tenant = ? AND status = 'running' AND owner IS NULL AND wake_at IS NULL)`;

export class RunList {
  readonly #db: DatabaseSync;
  /** Keyed by SQL text: one statement for each set of filters. */
  readonly #statements = new Map<string, Query<RunColumns>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  page(query: RunQuery): RunPage {
    const before = parseListCursor(query.cursor) ?? Number.MAX_SAFE_INTEGER;
    if (query.status !== 'running') return this.#find(query, before);
    const newest = 'runs.key IN (SELECT key FROM runs WHERE tenant = ? AND key < ? ORDER BY key DESC LIMIT ?)';
    const near = this.#find(query, before, [newest, query.tenant, before, NEWEST]);
    // Older running runs are rare among ended ones, so they are found by lease or wake time instead of a scan.
    return near.nextCursor !== null ? near : this.#find(query, before, [GOING_ON, query.tenant]);
  }

  #find({ tenant, status, workflowId, tag, limit }: RunQuery, before: number, among?: Filter): RunPage {
    const filters: Filter[] = [
      ['runs.tenant = ?', tenant],
      ['runs.key < ?', before],
    ];
    if (status !== undefined) filters.push([`runs.status = ? ${status === 'running' ? '' : INDEXED}`, status]);
    if (workflowId !== undefined) filters.push(['runs.workflow = ?', workflowId]);
    if (tag !== undefined) filters.push(['run_tags.tag = ?', tag]);
    if (among !== undefined) filters.push(among);
    const tags = tag === undefined ? '' : 'JOIN run_tags ON run_tags.tenant = runs.tenant AND run_tags.run = runs.key';
    const statement = this.#statement(`${tags} WHERE ${filters.map(([text]) => text).join(' AND ')}`);
    const values = filters.flatMap(([, ...given]) => given);
    const found = statement.all(...values, limit + 1);
    const runs = found.slice(0, limit);
    const last = runs.at(-1);
    return {
      runs: runs.map(recordOf),
      nextCursor: found.length > limit && last !== undefined ? String(last[0]) : null,
    };
  }

  #statement(filters: string): Query<RunColumns> {
    const known = this.#statements.get(filters);
    if (known !== undefined) return known;
    const statement = query<RunColumns>(
      this.#db,
      `SELECT ${RUN_COLUMNS} FROM runs ${filters} ORDER BY runs.key DESC LIMIT ?`,
    );
    this.#statements.set(filters, statement);
    return statement;
  }
}
