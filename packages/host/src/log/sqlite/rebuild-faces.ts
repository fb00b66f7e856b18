/** Gives every row the task face that its run gives it today, in bounded transactions, and contexts their index anew. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../ports/event-log.ts';
import { rowBytes } from '../ports/row-bytes.ts';
import type { WrongFace } from '../task-faces.ts';
import { faceColumns } from '../tasks/face-columns.ts';
import { type RebuiltFaces, wrongFaces } from '../wrong-faces.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';
import { ValueWriter } from './values/large-values.ts';

export async function rebuildFaces(
  { db, writer, read }: Connection,
  log: Pick<EventLog, 'read'>,
): Promise<RebuiltFaces> {
  const runsOf = query<[key: number, runId: RunId, parentRunId: RunId | null, fromSeq: number | null]>(
    db,
    'SELECT key, id, parent, fork_seq FROM runs WHERE key > ? ORDER BY key LIMIT 500',
  );
  const store = faceWriter(db);
  let rows = 0;
  let runs = 0;
  for (let after = 0; ; ) {
    const page = await read(() => runsOf.all(after));
    if (page.length === 0) break;
    for (const [key, runId, parentRunId, fromSeq] of page) {
      after = key;
      let changed = 0;
      for await (const wrong of wrongFaces(log, { runId, parentRunId, fork: fromSeq === null ? null : { fromSeq } })) {
        changed += await writer.submit({ rows: wrong.length, bytes: 0, apply: () => store(key, wrong) });
      }
      rows += changed;
      if (changed > 0) runs += 1;
    }
  }
  await writer.submit({ rows, bytes: 0, apply: () => db.exec(REBUILD_SEGMENTS) });
  return { rows, runs };
}

/** One transaction: the store has no reader. */
const REBUILD_SEGMENTS = `
  DELETE FROM context_segments;
  INSERT INTO context_segments (context, cursor, run, seq) SELECT context, cursor, run, seq FROM (
    SELECT runs.context, cursor, run, seq, lag(run) OVER (PARTITION BY runs.context ORDER BY cursor) AS last
    FROM events JOIN runs ON runs.key = events.run
  ) WHERE last IS NOT run;
`;

/** Returns the number of changed rows: those that the run owns. What it shares with its source belongs to the source. */
function faceWriter(db: DatabaseSync): (run: number, wrong: readonly WrongFace[]) => number {
  const values = new ValueWriter(db);
  const isOwn = query<[one: number]>(db, 'SELECT 1 FROM events WHERE cursor = ? AND run = ?');
  const parentOf = query<[parent: string | null]>(db, 'SELECT parent FROM runs WHERE key = ?');
  const save = db.prepare('UPDATE events SET payload = ?, task = ?, face = ?, cuts = ?, bytes = ? WHERE cursor = ?');
  return (run, wrong) => {
    let changed = 0;
    const isSubtask = (parentOf.get(run)?.[0] ?? null) !== null;
    for (const { row, face } of wrong) {
      if (isOwn.get(row.cursor, run) === undefined) continue;
      const { payload, task, cuts } = values.keep(run, row.payload, face);
      // As an append writes it, and as a verification expects it. No total of a tenant changes for a few bytes.
      const bytes = cuts === null ? null : rowBytes({ payload: row.payload, task: face });
      const columns = faceColumns(face, { audience: row.audience, isSubtask });
      save.run(payload, task, columns, cuts, bytes, row.cursor);
      changed += 1;
    }
    return changed;
  };
}
