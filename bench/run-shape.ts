/** The shape of a real run on disk and on the wire, so that the hollow programs move the same bytes. */
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { TerminalError } from '@cairn/protocol';
import { query } from '../packages/host/src/log/sqlite/query.ts';

/** Rows of the store's event table, and the statements that create that table. */
export interface RowShape {
  readonly schema: readonly string[];
  readonly columns: readonly string[];
  /** Values in the order of `columns`. */
  readonly rows: readonly (readonly SQLOutputValue[])[];
}

/** The row in the run list. The host writes it with a run's first event and updates it with the last. */
export interface ListedRun {
  readonly schema: readonly string[];
  readonly columns: readonly string[];
  /** The row after the run has ended. */
  readonly row: readonly SQLOutputValue[];
}

/** The rows of a run, grouped into the commits it needs, each with the frames a client receives for it. */
export interface RunShape {
  readonly rows: RowShape;
  readonly listed: ListedRun;
  readonly commits: readonly { readonly from: number; readonly to: number; readonly frames: string }[];
}

/** Reads the newest run's rows from a store's file. The store may be open. */
export function readRowShape(file: string): RowShape {
  using db = new DatabaseSync(file, { readOnly: true });
  const schema = db.prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'events' AND sql IS NOT NULL").all();
  const sql = 'SELECT * FROM events WHERE run = (SELECT max(run) FROM events) ORDER BY seq';
  const columns = columnsOf(db, sql);
  const rows = query<SQLOutputValue[]>(db, sql).all();
  for (const column of ['cursor', 'run', 'seq', 'type']) {
    if (columns.includes(column)) continue;
    throw new TerminalError('internal_error', {
      message: `The event table of ${file} has no column ${column}; it has ${columns.join(', ')}.`,
      hint: 'The benchmarks copy the shape of that table: bring bench/run-shape.ts up to date with the store.',
    });
  }
  return { schema: schema.map((row) => String(row.sql)), columns, rows };
}

export function readListedRun(file: string): ListedRun {
  using db = new DatabaseSync(file, { readOnly: true });
  const schema = db.prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'runs' AND sql IS NOT NULL").all();
  // The table info leaves out generated columns, which cannot be written.
  const columns = db.prepare('PRAGMA table_info(runs)').all();
  const names = columns.map(({ name }) => String(name));
  const select = `SELECT ${names.join(', ')} FROM runs WHERE key = (SELECT max(run) FROM events)`;
  const row = query<SQLOutputValue[]>(db, select).get() ?? [];
  return { schema: schema.map(({ sql }) => String(sql)), columns: names, row };
}

const columnsOf = (db: DatabaseSync, sql: string): readonly string[] =>
  db
    .prepare(sql)
    .columns()
    .map(({ name }) => name ?? '');

/**
 * Splits a run into the fewest commits that still make every step's request durable before its effect begins: one to
 * create the run, then one per step. `stream` is the client's stream of the run.
 */
export function runShape(rows: RowShape, listed: ListedRun, stream: string): RunShape {
  const frames = framesBySequence(stream);
  const typeAt = rows.columns.indexOf('type');
  const commits: { from: number; to: number; frames: string }[] = [];
  let from = 0;
  rows.rows.forEach((row, seq) => {
    const last = seq === rows.rows.length - 1;
    if (row[typeAt] !== 'cairn.step.requested' && !last) return;
    const text = Array.from({ length: seq + 1 - from }, (_, index) => frames.get(from + index) ?? '').join('');
    commits.push({ from, to: seq + 1, frames: text });
    from = seq + 1;
  });
  return { rows, listed, commits };
}

function framesBySequence(stream: string): ReadonlyMap<number, string> {
  const frames = new Map<number, string>();
  for (const frame of stream.match(/^id: \d+\n(?:.+\n)+\n/gm) ?? []) {
    frames.set(Number(/^id: (\d+)/.exec(frame)?.[1]), frame);
  }
  return frames;
}
