/** The columns of events, and the conversion to rows. */
import type { Cause, ContextId, RunId } from '@cairn/protocol';
import type { Row } from '../../ports/rows.ts';

/** What a reader needs of the texts of a row, and what a page counts of it. */
export interface View {
  readonly columns: string;
  readonly size: string;
}

export type ViewName = 'all' | 'frames' | 'folds' | 'tasks' | 'places';

const PLACE = 'e.seq, e.cursor, e.at, e.type, e.node, e.cause, e.audience, e.face';

const frames: View = {
  columns: `${PLACE}, e.payload AS body, NULL::text AS task_body, ''::text AS own_hash, ''::text AS chain_hash`,
  size: 'e.payload_size',
};

/** Names differ from those of the table, so that each view has the same ones. */
export const views: Readonly<Record<ViewName, View>> = {
  all: {
    columns: `${PLACE}, e.payload AS body, e.task AS task_body, e.row_hash AS own_hash, e.hash AS chain_hash`,
    size: 'e.payload_size + e.task_size',
  },
  frames,
  folds: frames,
  tasks: {
    columns: `${PLACE}, ''::text AS body, CASE WHEN e.face <> 0 THEN e.task END AS task_body, ''::text AS own_hash,
      ''::text AS chain_hash`,
    size: 'CASE WHEN e.face <> 0 THEN e.task_size ELSE 0 END',
  },
  places: {
    columns: `${PLACE}, ''::text AS body, NULL::text AS task_body, ''::text AS own_hash, ''::text AS chain_hash`,
    size: '0',
  },
};

/** The same columns of a tombstone. A page ends before it, so that it has no size. */
export const TOMBSTONE = `t.seq, t.cursor, t.at, t.type, t.node, t.cause, t.audience, 0 AS face, ''::text AS body,
  NULL::text AS task_body, t.row_hash AS own_hash, t.hash AS chain_hash`;

/** The outer SELECT list of every read. */
export const ROW_COLUMNS = 'seq, cursor, at, type, node, cause, audience, face, body, task_body, own_hash, chain_hash';

export type RowColumns = [
  seq: number,
  cursor: number,
  at: number,
  type: string,
  nodeId: string | null,
  cause: string | null,
  audience: number,
  face: number,
  payload: string,
  task: string | null,
  rowHash: string,
  hash: string,
];

export function rowOf(runId: RunId, contextId: ContextId, columns: readonly [...RowColumns, ...unknown[]]): Row {
  const [seq, cursor, at, type, nodeId, cause, audience, face, payload, task, rowHash, hash] = columns;
  return {
    runId,
    seq,
    contextId,
    cursor,
    at,
    type,
    nodeId,
    cause: cause === null ? null : (JSON.parse(cause) as Cause),
    audience: audience === 0 ? 'client' : 'operator',
    payload,
    task,
    face,
    rowHash,
    hash,
  };
}
