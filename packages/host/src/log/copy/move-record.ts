/** How far a move is, as the target records it with each page: a later move resumes after the last page. */
import { RetryableError, TerminalError } from '@cairn/protocol';
import type { Database, Queries } from '../postgres/database.ts';
import { CHANNEL, MOVE, storeFacts } from '../postgres/records/store-facts.ts';
import type { Cell } from './copied-table.ts';
import { copiedTables } from './record-tables.ts';

export interface MoveRecord {
  /** The data folder: a host that starts there draws another stamp. */
  readonly from: { readonly stamp: number; readonly cursor: number };
  /** Rows of all tables, and how many of them are copied. */
  readonly rows: number;
  readonly copied: number;
  /** A table, `verify`, or `done`. */
  readonly step: string;
  /** The key of the last copied row of the table, or of the last verified run. */
  readonly after: readonly Cell[] | null;
}

export async function readMove(database: Database): Promise<MoveRecord | null> {
  const found = await storeFacts(database).move();
  // Only this program writes it.
  return found === null ? null : (JSON.parse(found) as MoveRecord);
}

/** Begins a move into a database that holds nothing yet. */
export function beginMove(database: Database, record: MoveRecord): Promise<void> {
  return database.transaction(async (queries) => {
    const begun = await queries.changed('INSERT INTO cairn.facts VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING', [
      MOVE,
      JSON.stringify(record),
    ]);
    if (begun === 0) throw otherMove(database.place);
    for (const { name } of copiedTables) {
      const where = name === 'facts' ? `WHERE name NOT IN ('${MOVE}', '${CHANNEL}')` : '';
      const [found] = await queries.rows(`SELECT 1 FROM cairn.${name} ${where} LIMIT 1`);
      if (found !== undefined) throw hasData(database.place, name);
    }
  });
}

/** Does the next part of a move, together with the record of it. Two processes never do the same part. */
export function advance(
  database: Database,
  { from, to }: { readonly from: MoveRecord; readonly to: MoveRecord },
  work: (queries: Queries) => Promise<void>,
): Promise<void> {
  return database.transaction(async (queries) => {
    const saved = await queries.changed(
      'UPDATE cairn.facts SET value = $2::text WHERE name = $1::text AND value = $3::text',
      [MOVE, JSON.stringify(to), JSON.stringify(from)],
    );
    if (saved === 0) throw otherMove(database.place);
    await work(queries);
  });
}

/** A move goes on with what it began with. */
export function checkSource(
  folder: string,
  place: string,
  { known, from }: { readonly known: MoveRecord; readonly from: MoveRecord['from'] },
): void {
  if (from.stamp === known.from.stamp && from.cursor === known.from.cursor) return;
  if (known.step === 'done') throw hasData(place, 'runs');
  throw new TerminalError('conflict', {
    message: `A move into ${place} began from another state than ${folder} has now: a host ran there since, or it was another folder.`,
    hint: 'Name the folder that the move began with. To start over, run "DROP SCHEMA cairn CASCADE" in the database: it removes what was copied.',
  });
}

const otherMove = (place: string): RetryableError =>
  new RetryableError('conflict', {
    message: `Another process moves data into ${place}.`,
    hint: 'Wait for it, or stop it and run the command again: it goes on where the other one was.',
  });

const hasData = (place: string, table: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The database ${place} holds data of a host already: cairn.${table} is not empty.`,
    hint: 'A move needs a database of its own. Name another one, or import single runs with "cairn import".',
    details: { table },
  });
