/** Gives every row the task face that its run gives it today. Nodes may go on meanwhile: rows do not change otherwise. */
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../ports/event-log.ts';
import { rowBytes } from '../ports/row-bytes.ts';
import type { WrongFace } from '../task-faces.ts';
import { faceColumns } from '../tasks/face-columns.ts';
import { type RebuiltFaces, wrongFaces } from '../wrong-faces.ts';
import { scalars, texts } from './commit/array-literal.ts';
import type { Database } from './database.ts';

/** Rows that a run shares with the source of its fork belong to the source. */
const SAVE = `UPDATE cairn.events e SET task = x.task, face = x.face, task_size = x.size, bytes = x.bytes
  FROM unnest($2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::integer[]) AS x (seq, task, face, size, bytes)
  WHERE e.run = $1::bigint AND e.seq = x.seq`;

export async function rebuildFaces(database: Database, log: Pick<EventLog, 'read'>): Promise<RebuiltFaces> {
  let rows = 0;
  let runs = 0;
  for (let after = 0; ; ) {
    const page = await database.rows<[key: number, runId: RunId, parentRunId: RunId | null, fromSeq: number | null]>(
      'SELECT key, id, parent, fork_seq FROM cairn.runs WHERE key > $1::bigint ORDER BY key LIMIT 500',
      [after],
    );
    if (page.length === 0) return { rows, runs };
    for (const [key, runId, parentRunId, fromSeq] of page) {
      after = key;
      let changed = 0;
      const run = { runId, parentRunId, fork: fromSeq === null ? null : { fromSeq } };
      for await (const wrong of wrongFaces(log, run)) changed += await save(database, key, wrong, parentRunId !== null);
      rows += changed;
      if (changed > 0) runs += 1;
    }
  }
}

function save(database: Database, key: number, wrong: readonly WrongFace[], isSubtask: boolean): Promise<number> {
  return database.changed(SAVE, [
    key,
    scalars(wrong.map(({ row }) => row.seq)),
    texts(wrong.map(({ face }) => face)),
    scalars(wrong.map(({ row: { audience }, face }) => faceColumns(face, { audience, isSubtask }))),
    scalars(wrong.map(({ face }) => face?.length ?? 0)),
    // As an append writes it. No total of a tenant changes for a few bytes.
    scalars(wrong.map(({ row: { payload }, face }) => rowBytes({ payload, task: face }))),
  ]);
}
