/** The run list. Every set of filters has an index of its own, which gives the runs in the order of the list. */
import { parseListCursor } from '../../errors.ts';
import type { RunPage, RunQuery } from '../../ports/run-index.ts';
import { type ListColumns, RUN_COLUMNS, runPageOf } from '../../run-columns.ts';
import type { Queries, Value } from '../database.ts';

export async function runPage(queries: Queries, query: RunQuery): Promise<RunPage> {
  const { tenant, status, workflowId, tag, parentRunId, limit, cursor } = query;
  const before = parseListCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
  const values: Value[] = [tenant, before, limit + 1];
  if (parentRunId === null) return runPageOf(await queries.rows<ListColumns>(withoutParent, values), limit);
  const of = tag === undefined ? 'runs' : 'tags';
  const filters: string[] = [];
  const add = (column: string, value: string | undefined): void => {
    if (value === undefined) return;
    values.push(value);
    filters.push(`AND ${of}.${column} = $${values.length}::text`);
  };
  add('tag', tag);
  add('workflow', workflowId);
  add('shown', status);
  add('parent', parentRunId);
  const found = await queries.rows<ListColumns>(tag === undefined ? untagged(filters) : tagged(filters), values);
  return runPageOf(found, limit);
}

const untagged = (filters: readonly string[]): string =>
  `SELECT runs.shown, ${RUN_COLUMNS} FROM cairn.runs AS runs
    WHERE runs.tenant = $1::text AND runs.key < $2::bigint ${filters.join(' ')} ORDER BY runs.key DESC LIMIT $3::bigint`;

/** Runs that no other run started, and imported ones whose parent is not here. */
const withoutParent = `SELECT * FROM (
    (${untagged(['AND runs.parent IS NULL'])})
    UNION ALL
    (${untagged([
      'AND runs.parent IS NOT NULL AND runs.imported_at IS NOT NULL AND NOT EXISTS',
      '(SELECT FROM cairn.runs AS above WHERE above.id = runs.parent AND above.tenant = runs.tenant)',
    ])})
  ) AS roots ORDER BY key DESC LIMIT $3::bigint`;

const tagged = (filters: readonly string[]): string =>
  `SELECT runs.shown, ${RUN_COLUMNS} FROM cairn.run_tags AS tags JOIN cairn.runs AS runs ON runs.key = tags.run
    WHERE tags.tenant = $1::text AND tags.run < $2::bigint ${filters.join(' ')} ORDER BY tags.run DESC LIMIT $3::bigint`;
