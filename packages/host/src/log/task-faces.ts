/** Computes the task faces of a run again, from its rows alone. Hashes do not cover faces, so a better one is no change. */
import { foldEventOf, foldRun, newRunView, type RunId, taskFace } from '@cairn/protocol';
import { utf8Size } from '../utf8.ts';
import { MAX_EVENT_BYTES, type Row } from './ports/rows.ts';
import type { RunFork } from './ports/run-index.ts';
import { faceColumns, isOfSubtask } from './tasks/face-columns.ts';

/** Returns the face of each next row as a store would keep it. Call it with every row of the run, from the first. */
export function taskFaces(runId: RunId): (row: FacedRow) => string | null {
  const view = newRunView(runId);
  return (row) => {
    const event = foldEventOf(row);
    foldRun(view, event);
    const face = taskFace(view, event);
    return face === null ? null : fitting(JSON.stringify(face), row.payload);
  };
}

/** A later version may give a row a face that it could not have been written with. Such a row shows nothing. */
const fitting = (face: string, payload: string): string | null =>
  (face.length + payload.length) * 3 <= MAX_EVENT_BYTES || utf8Size(face) + utf8Size(payload) <= MAX_EVENT_BYTES
    ? face
    : null;

type FacedRow = Pick<Row, 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

export interface WrongFace {
  readonly row: Row;
  /** The right one. */
  readonly face: string | null;
}

export interface FacedRun {
  readonly runId: RunId;
  readonly parentRunId: RunId | null;
  readonly fork: Pick<RunFork, 'fromSeq'> | null;
}

/**
 * Compares the stored face of each next row, and its columns, with what the run gives it; null if they are equal. It
 * stops comparing at a row that cannot be read: the hashes tell about that row.
 */
export function faceCheck({ runId, parentRunId, fork }: FacedRun): (row: Row) => WrongFace | null {
  let faceOf: ReturnType<typeof taskFaces> | null = taskFaces(runId);
  return (row) => {
    try {
      const face = faceOf === null ? row.task : faceOf(row);
      const isShared = row.seq < (fork?.fromSeq ?? 0);
      const isSubtask = isShared ? isOfSubtask(row.face) : parentRunId !== null;
      const columns = faceColumns(face, { audience: row.audience, isSubtask });
      return face === row.task && columns === row.face ? null : { row, face };
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      faceOf = null;
      return null;
    }
  };
}
