/** Gives every row the task face that its run gives it today, in bounded transactions. Hashes do not cover faces. */
import type { DatabaseSync } from 'node:sqlite';
import { isCairnError, type RunId } from '@cairn/protocol';
import type { EventLog } from '../ports/event-log.ts';
import { rowBytes } from '../ports/row-bytes.ts';
import { isFull, type Row } from '../ports/rows.ts';
import { faceCheck, type WrongFace } from '../task-faces.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';
import { ValueWriter } from './values/large-values.ts';

/** How many rows got another face, and how many runs they belong to. */
export interface RebuiltFaces {
  readonly rows: number;
  readonly runs: number;
}

/** Rows are folded and compared in the turn that reads them. */
const PAGE = { limit: 500, maxBytes: 524_288 };

export async function rebuildFaces(
  { db, writer, read }: Connection,
  log: Pick<EventLog, 'read'>,
): Promise<RebuiltFaces> {
  const runsOf = query<[key: number, runId: RunId]>(
    db,
    'SELECT key, id FROM runs WHERE key > ? ORDER BY key LIMIT 500',
  );
  const store = faceWriter(db);
  let rows = 0;
  let runs = 0;
  for (let after = 0; ; ) {
    const page = await read(() => runsOf.all(after));
    if (page.length === 0) return { rows, runs };
    for (const [key, runId] of page) {
      after = key;
      let changed = 0;
      for await (const wrong of wrongFaces(log, runId)) {
        changed += await writer.submit({ rows: wrong.length, bytes: 0, apply: () => store(key, wrong) });
      }
      rows += changed;
      if (changed > 0) runs += 1;
    }
  }
}

async function* wrongFaces(log: Pick<EventLog, 'read'>, runId: RunId): AsyncGenerator<readonly WrongFace[]> {
  const check = faceCheck(runId);
  for (let after = -1; ; ) {
    const rows = await rowsAfter(log, runId, after);
    if (rows === null) return;
    const wrong = rows.flatMap((row) => check(row) ?? []);
    if (wrong.length > 0) yield wrong;
    after += rows.length;
    if (!isFull(rows, PAGE)) return;
  }
}

/** Null for a fork whose shared rows were purged: the faces of its own rows follow from them too, and stay. */
async function rowsAfter(log: Pick<EventLog, 'read'>, runId: RunId, after: number): Promise<readonly Row[] | null> {
  try {
    return await log.read({ runId, after, ...PAGE });
  } catch (error) {
    if (isCairnError(error, 'run_purged')) return null;
    throw error;
  }
}

/** Returns the number of changed rows: those that the run owns. What it shares with its source belongs to the source. */
function faceWriter(db: DatabaseSync): (run: number, wrong: readonly WrongFace[]) => number {
  const values = new ValueWriter(db);
  const isOwn = query<[one: number]>(db, 'SELECT 1 FROM events WHERE cursor = ? AND run = ?');
  const save = db.prepare('UPDATE events SET payload = ?, task = ?, cuts = ?, bytes = ? WHERE cursor = ?');
  return (run, wrong) => {
    let changed = 0;
    for (const { row, face } of wrong) {
      if (isOwn.get(row.cursor, run) === undefined) continue;
      const { payload, task, cuts } = values.keep(run, row.payload, face);
      // A row counts in quotas what it counted when it was written, so no total changes.
      save.run(payload, task, cuts, rowBytes(row), row.cursor);
      changed += 1;
    }
    return changed;
  };
}
