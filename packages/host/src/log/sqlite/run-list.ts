/** The run list: every filter by an index, also the runs that run, which are in none by status. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { parseListCursor } from '../errors.ts';
import type { RunPage, RunQuery } from '../ports/run-index.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from './columns.ts';
import { type Query, query } from './query.ts';

type Filter = readonly [text: string, ...values: SQLInputValue[]];

/** Says what the index by status is limited to, so that it can be used. */
const INDEXED = "AND runs.status <> 'running'";

/** Runs looked at first when those that run are wanted: most often they are among the newest. */
const NEWEST = 2_000;

/** A run that runs is held, or waits for a time; or nothing leads to it, as to one that was imported in the midst of it. */
const GOING_ON = `runs.key IN (
  SELECT key FROM runs WHERE owner IS NOT NULL
  UNION ALL SELECT key FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL
  UNION ALL SELECT key FROM runs WHERE tenant = ? AND status = 'running' AND owner IS NULL AND wake_at IS NULL)`;

export class RunList {
  readonly #db: DatabaseSync;
  /** By their text: one for each set of filters. */
  readonly #statements = new Map<string, Query<RunColumns>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  page(query: RunQuery): RunPage {
    const before = parseListCursor(query.cursor) ?? Number.MAX_SAFE_INTEGER;
    if (query.status !== 'running') return this.#find(query, before);
    const newest = 'runs.key IN (SELECT key FROM runs WHERE tenant = ? AND key < ? ORDER BY key DESC LIMIT ?)';
    const near = this.#find(query, before, [newest, query.tenant, before, NEWEST]);
    // Further back they are few among many that have ended: found by what they wait for, not by looking at each.
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
