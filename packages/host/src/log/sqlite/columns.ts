/** The column order of every read, and the conversion of columns to rows. */
import type { Cause, ContextId, RunId } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';

export {
  forkOf,
  INTERRUPT_COLUMNS,
  type InterruptColumns,
  interruptOf,
  parseTexts,
  RUN_COLUMNS,
  type RunColumns,
  recordOf,
  summaryText,
} from '../run-columns.ts';

export const EVENT_COLUMNS = 'seq, cursor, at, type, node, cause, audience, payload, task, row_hash, hash, cuts, face';

/** Columns for frames, which show neither task face nor hashes: half the bytes of a row. */
export const FRAME_COLUMNS = "seq, cursor, at, type, node, cause, audience, payload, NULL, '', '', cuts, face";

/** Columns of the place of a row, without its texts. */
export const PLACE_COLUMNS = "seq, cursor, at, type, node, cause, audience, '', NULL, '', '', NULL, face";

export type EventColumns = [
  seq: number,
  cursor: number,
  at: number,
  type: string,
  nodeId: string | null,
  cause: Cause | null,
  audience: number,
  payload: string,
  task: string | null,
  rowHash: string,
  hash: string,
  cuts: string | null,
  face: number,
];

/** The row as the table keeps it. Its texts lack the values in `cuts`; `rowReader` returns whole rows. */
export function rowOf(runId: RunId, contextId: ContextId, event: EventColumns): Row {
  return {
    runId,
    seq: event[0],
    contextId,
    cursor: event[1],
    at: event[2],
    type: event[3],
    nodeId: event[4],
    cause: event[5],
    audience: event[6] === 0 ? 'client' : 'operator',
    payload: event[7],
    task: event[8],
    face: event[12],
    rowHash: event[9],
    hash: event[10],
  };
}
