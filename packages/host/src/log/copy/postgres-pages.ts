/** Reads the tables of a Postgres store a page at a time: all rows, or those of some runs. */
import type { RunId } from '@cairn/protocol';
import type { Queries, Value } from '../postgres/database.ts';
import { encodeJson } from '../postgres/text-codec.ts';
import { type Cell, type CopiedRow, type CopiedTable, PAGE_BYTES, PAGE_ROWS } from './copied-table.ts';

/** The keys of runs as JSON; null for all of them. */
export type RunKeys = string | null;

/** The runs of the same contexts, and those that they share rows with or are forks of. */
const RUN_KEYS = `WITH RECURSIVE ids AS (SELECT jsonb_array_elements_text($1::text::jsonb) AS id), every AS (
    SELECT key, id, context, fork_source FROM cairn.runs UNION ALL SELECT key, id, context, fork_source FROM cairn.purged_runs),
  wanted (key) AS (
    SELECT every.key FROM every WHERE every.context IN (SELECT e.context FROM every e JOIN ids ON ids.id = e.id)
    UNION SELECT other.key FROM wanted JOIN LATERAL (
      SELECT s.owner AS key FROM cairn.shared_rows s WHERE s.run = wanted.key
      UNION ALL SELECT source.key FROM every fork JOIN every source ON source.id = fork.fork_source
        WHERE fork.key = wanted.key) other ON true)
  SELECT key FROM wanted`;

export async function runKeys(queries: Queries, runIds: readonly RunId[]): Promise<RunKeys> {
  const found = await queries.rows<[number]>(RUN_KEYS, [encodeJson(runIds)]);
  return JSON.stringify(found.map(([key]) => key));
}

/** Calls back with each page of a table, in the order of its key. */
export async function postgresPages(
  queries: Queries,
  { table, keys }: { readonly table: CopiedTable; readonly keys: RunKeys },
  use: (rows: readonly CopiedRow[]) => void,
): Promise<void> {
  const { inPostgres } = table;
  if (keys !== null && inPostgres?.ofRuns === undefined) return;
  const names = Object.keys(table.columns);
  let after: readonly Cell[] | null = null as readonly Cell[] | null;
  for (;;) {
    const values: readonly Value[] = [...(keys === null ? [] : [keys]), ...(after ?? [])];
    const found: readonly Cell[][] = await queries.rows<Cell[]>(
      pageOf(table, { isOfRuns: keys !== null, isFirst: after === null }),
      values,
    );
    const rows = found.map((cells): CopiedRow => Object.fromEntries(names.map((name, i) => [name, cells[i] ?? null])));
    const last = rows.at(-1);
    if (last === undefined) return;
    use(rows);
    after = table.key.map((column) => last[column] ?? null);
  }
}

/** Rows until one ends beyond the bytes of a page. */
function pageOf(
  { name, key, columns, inPostgres }: CopiedTable,
  { isOfRuns, isFirst }: { readonly isOfRuns: boolean; readonly isFirst: boolean },
): string {
  const ordered = key.map((column) => `t.${column}`).join(', ');
  const first = isOfRuns ? 2 : 1;
  const places = key.map((column, i) => `$${first + i}::${columns[column] ?? 'text'}`).join(', ');
  const where = [
    ...(isOfRuns ? [inPostgres?.ofRuns ?? 'false'] : []),
    ...(isFirst ? [] : [`(${ordered}) > (${places})`]),
  ];
  const names = Object.keys(columns);
  const read = names.map((column) => `${inPostgres?.read?.[column] ?? `t.${column}`} AS ${column}`);
  const keys = isOfRuns ? 'WITH keys AS (SELECT jsonb_array_elements_text($1::text::jsonb)::bigint AS key) ' : '';
  const page = `SELECT ${read.join(', ')}, ${inPostgres?.size ?? '0'} AS row_size FROM ${inPostgres?.from ?? `cairn.${name}`} t
    WHERE ${['true', ...where].join(' AND ')} ORDER BY ${ordered} LIMIT ${PAGE_ROWS}`;
  const sized = `SELECT p.*, sum(p.row_size) OVER (ORDER BY ${key.map((column) => `p.${column}`).join(', ')}) - p.row_size
    AS size_before FROM (${page}) p`;
  return `${keys}SELECT ${names.map((column) => `q.${column}`).join(', ')} FROM (${sized}) q
    WHERE q.size_before < ${PAGE_BYTES} ORDER BY ${key.map((column) => `q.${column}`).join(', ')}`;
}
