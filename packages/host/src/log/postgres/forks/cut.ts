/** Finds what a fork begins with: the index of its source at the cut, folded from the nearest checkpoint. */
import { foldRunIndex, type IndexedRun, indexedTypes, newRunIndex } from '../../fold-run-index.ts';
import { type IndexAt, indexOf } from '../../index-checkpoint.ts';
import type { Row } from '../../ports/rows.ts';
import type { RunRecord } from '../../ports/run-index.ts';
import type { Queries } from '../database.ts';
import { type Stretches, stretchesJson } from './stretches.ts';

/** Rows that the index shows, folded in one turn of the event loop. */
const ROWS_PER_TURN = 500;

export interface Cut {
  readonly index: IndexedRun;
  /** The last shared row; null for a fork at 0. */
  readonly last: Pick<Row, 'seq' | 'hash' | 'at'> | null;
}

const STRETCHES = 'jsonb_to_recordset($1::text::jsonb) AS s (owner bigint, from_seq bigint, through bigint)';

/** `shared` are the rows before the cut. */
export async function findCut(queries: Queries, record: RunRecord, shared: Stretches): Promise<Cut> {
  const given = stretchesJson(shared);
  let { seq, index } = (await checkpoint(queries, given)) ?? {
    seq: -1,
    index: newRunIndex(record.runId, { ...record, parentRunId: undefined }, 0),
  };
  const types = indexedTypes.map((type) => `'${type}'`).join();
  for (;;) {
    const rows = await queries.rows<[seq: number, at: number, type: string, node: string | null, payload: string]>(
      `SELECT e.seq, e.at, e.type, e.node, e.payload FROM ${STRETCHES} JOIN cairn.events e ON e.run = s.owner
         AND e.seq >= s.from_seq AND e.seq < s.through AND e.seq > $2::bigint AND e.type IN (${types})
         ORDER BY e.seq LIMIT ${ROWS_PER_TURN}`,
      [given, seq],
    );
    for (const [at, instant, type, node, payload] of rows) {
      index = foldRunIndex(index, { at: instant, type, nodeId: node ?? undefined, payload }, at);
      seq = at;
    }
    if (rows.length < ROWS_PER_TURN) break;
  }
  return { index, last: await lastRow(queries, shared) };
}

async function checkpoint(queries: Queries, stretches: string): Promise<IndexAt | null> {
  const [found] = await queries.rows<[seq: number, body: string]>(
    `SELECT c.seq, c.body FROM ${STRETCHES} JOIN cairn.index_checkpoints c ON c.run = s.owner AND c.seq >= s.from_seq
       AND c.seq < s.through ORDER BY c.seq DESC LIMIT 1`,
    [stretches],
  );
  const index = found === undefined ? null : indexOf(found[1]);
  return found === undefined || index === null ? null : { seq: found[0], index };
}

async function lastRow(queries: Queries, shared: Stretches): Promise<Cut['last']> {
  const last = shared.at(-1);
  if (last === undefined) return null;
  const [found] = await queries.rows<[seq: number, hash: string, at: number]>(
    `SELECT seq, hash, at FROM cairn.events WHERE run = $1::bigint AND seq = $2::bigint
       UNION ALL SELECT seq, hash, at FROM cairn.tombstones WHERE run = $1::bigint AND seq = $2::bigint`,
    [last.owner, last.through - 1],
  );
  return found === undefined ? null : { seq: found[0], hash: found[1], at: found[2] };
}
