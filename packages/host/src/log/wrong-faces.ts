/** Finds the rows of a run whose stored task face is not the one that the run gives them today. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { EventLog } from './ports/event-log.ts';
import { isFull, type Row } from './ports/rows.ts';
import { type FacedRun, faceCheck, type WrongFace } from './task-faces.ts';

/** How many rows got another face, and how many runs they belong to. */
export interface RebuiltFaces {
  readonly rows: number;
  readonly runs: number;
}

/** Rows are folded and compared in the turn that reads them. */
const PAGE = { limit: 500, maxBytes: 524_288 };

export async function* wrongFaces(log: Pick<EventLog, 'read'>, run: FacedRun): AsyncGenerator<readonly WrongFace[]> {
  const check = faceCheck(run);
  const { runId } = run;
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
