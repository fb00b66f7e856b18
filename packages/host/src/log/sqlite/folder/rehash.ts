/**
 * The migration to the hash recipe that covers neither context nor task face. A row that did not match its old hash
 * keeps it, and so does not match afterwards: the migration hides no damage.
 */
import { hash as digest } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { chainHash, chainStart, rowHash } from '../../chain.ts';
import { bodySize, type Row } from '../../ports/rows.ts';
import { type EventColumns, rowOf } from '../columns.ts';
import { query } from '../query.ts';
import { rowReader, type ToRow } from '../values/read-rows.ts';
import { storedValues } from '../values/shared-values.ts';
import { changeInSteps } from './change-in-steps.ts';
import type { Migration, RowProgress } from './migration.ts';

export const rehashRows: Migration = {
  name: 'hashes that cover neither context nor task face',
  changeRows: (db, onProgress) => rehash(db, { stepRows: STEP_ROWS, onProgress }),
  sql: "DELETE FROM marks WHERE reader = 'cairn.rehash';",
};

/** One transaction. Measured with rows of 500 bytes: 5,000 rows take about 60 ms and 4 MiB of WAL. */
const STEP_ROWS = 5_000;
const STEP_CHARS = 16_777_216;

interface RehashOptions {
  readonly stepRows: number;
  readonly onProgress: (progress: RowProgress) => void;
}

/** The last row with a new hash. The chains go on from its old and its new one. */
interface Place {
  readonly run: number;
  readonly seq: number;
  readonly oldHash: string;
  readonly newHash: string;
}

export function rehash(db: DatabaseSync, { stepRows, onProgress }: RehashOptions): void {
  const rehashed = stepper(db, stepRows);
  const first: Place = { run: 0, seq: -1, oldHash: '', newHash: '' };
  const step = (from: Place) => {
    const done = rehashed(from);
    return { ...done, isLast: done.rows === 0 };
  };
  changeInSteps(db, { reader: 'cairn.rehash', table: 'events', first, step, onProgress });
}

/** The columns of its time. */
type OldColumns = EventColumns extends [...infer Old, face: number] ? Old : never;

type Found = [...OldColumns, run: number, runId: RunId, contextId: ContextId, originRunId: RunId];

function stepper(db: DatabaseSync, stepRows: number): (from: Place) => { place: Place; rows: number } {
  const following = query<Found>(
    db,
    // Part of a migration: the columns of its time.
    `SELECT seq, cursor, at, type, events.node, cause, audience, payload, task, row_hash, hash, cuts,
       runs.key, runs.id, runs.context, runs.origin
     FROM events CROSS JOIN runs ON runs.key = events.run
     WHERE (events.run, events.seq) > (?, ?) ORDER BY events.run, events.seq`,
  );
  const write = db.prepare('UPDATE events SET row_hash = ?, hash = ? WHERE cursor = ?');
  const toRow = rowReader(storedValues(db));
  return (from) => {
    let place = from;
    let rows = 0;
    let chars = 0;
    for (const found of following.iterate(from.run, from.seq)) {
      const { row, origin, run } = foundRow(found, toRow);
      if (run !== place.run) place = { run, seq: -1, oldHash: chainStart(origin), newHash: chainStart(origin) };
      const own = oldRowHash(row) === row.rowHash ? rowHash(row) : row.rowHash;
      const follows = chainHash(place.oldHash, row.rowHash) === row.hash;
      const newHash = follows ? chainHash(place.newHash, own) : row.hash;
      write.run(own, newHash, row.cursor);
      place = { run, seq: row.seq, oldHash: row.hash, newHash };
      rows += 1;
      chars += bodySize(row);
      if (rows >= stepRows || chars >= STEP_CHARS) break;
    }
    return { place, rows };
  };
}

interface FoundRow {
  readonly row: Row;
  readonly run: number;
  readonly origin: RunId;
}

function foundRow(found: Found, toRow: ToRow): FoundRow {
  const [seq, cursor, at, type, node, cause, audience, payload, task, own, hash, cuts, run, runId, context, origin] =
    found;
  const columns: EventColumns = [seq, cursor, at, type, node, cause, audience, payload, task, own, hash, cuts, 0];
  try {
    return { row: toRow(runId, context, columns), run, origin };
  } catch {
    // A value of the row is missing. As a row that does not match its hash, it does not keep the host from starting.
    return { row: rowOf(runId, context, columns), run, origin };
  }
}

/** The recipe before this migration. */
function oldRowHash({ seq, contextId, at, type, nodeId, cause, audience, payload, task }: Row): string {
  const columns = JSON.stringify([seq, contextId, at, type, nodeId, cause, audience]);
  return digest('sha256', `${columns}\n${payload}\n${task ?? ''}`, 'hex');
}
