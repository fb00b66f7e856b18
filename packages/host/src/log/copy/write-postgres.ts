/** Writes copied rows into Postgres. */
import type { Queries } from '../postgres/database.ts';
import { encodeJson } from '../postgres/text-codec.ts';
import type { ColumnType, CopiedRow, CopiedTable } from './copied-table.ts';

/** Writes a page into its table, and what Postgres keeps beside it. */
export async function writePage(queries: Queries, table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  const given = encodeJson(rows.map(jsonOf));
  for (const statement of statementsFor(table)) await queries.changed(statement, [given]);
}

/** JSON has no bytes. */
const jsonOf = (row: CopiedRow): CopiedRow =>
  Object.values(row).some((cell) => cell instanceof Uint8Array)
    ? Object.fromEntries(
        Object.entries(row).map(([name, cell]) => [
          name,
          cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : cell,
        ]),
      )
    : row;

/** Keys that Postgres draws itself are those of the row, too. */
function statementsFor({ name, columns, inPostgres }: CopiedTable): readonly string[] {
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([column, type]) => `${column} ${jsonTypeOf(type)}`);
  const read = Object.entries(columns).map(([column, type]) =>
    type === 'bytea' ? `decode(r.${column}, 'base64') AS ${column}` : `r.${column}`,
  );
  const given = `WITH x AS MATERIALIZED (SELECT ${read.join(', ')} FROM jsonb_to_recordset($1::text::jsonb) AS r (${typed.join(', ')}))`;
  const insert = `INSERT INTO cairn.${name} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${names.map((column) => `x.${column}`).join(', ')} FROM x`;
  return (inPostgres?.write ?? [insert]).map((statement) => `${given} ${statement}`);
}

const jsonTypeOf = (type: ColumnType): string => (type === 'bytea' || type === 'json' ? 'text' : type);
