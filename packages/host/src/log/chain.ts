/** The hash chain proves that a run's rows are unchanged and in order. The recipe never changes. */
import { createHash, hash as digest } from 'node:crypto';
import type { RunId } from '@cairn/protocol';
import { jsonText } from './feed/json-text.ts';
import { isTombstone, type Row } from './ports/rows.ts';

/**
 * The fields covered by a row's own hash. A fork shares the rows of its source under a run and a context of its own, so
 * neither is covered. The task face is a projection of these fields: it can be computed again.
 */
export type HashedRow = Pick<Row, 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'audience' | 'payload'>;

const sha256 = (text: string): string => digest('sha256', text, 'hex');

/** From here on, joining the parts into one more large text costs more than a hash object. */
const LARGE_PAYLOAD_CHARS = 16_384;

export function rowHash(row: HashedRow): string {
  const { seq, at, type, nodeId, cause, audience, payload } = row;
  // Same text as JSON.stringify over the six columns, without allocating the array: this runs for every row.
  const columns = `[${seq},${at},${quote(type)},${quote(nodeId)},${quote(cause)},"${audience}"]`;
  if (payload.length < LARGE_PAYLOAD_CHARS) return sha256(`${columns}\n${payload}`);
  return createHash('sha256').update(`${columns}\n`).update(payload).digest('hex');
}

const quote = (value: string | number | null): string => (typeof value === 'string' ? jsonText(value) : `${value}`);

/** The seed of a run's chain. A fork keeps its source's origin, so that a shared prefix has equal hashes. */
export const chainStart = (originRunId: RunId): string => sha256(originRunId);

export const chainHash = (previous: string, row: string): string => sha256(previous + row);

/** Where and how a chain breaks. */
export interface ChainBreak {
  readonly seq: number;
  readonly reason: 'seq' | 'row-hash' | 'chain-hash';
}

/**
 * Walks the rows of one run from the first. Returns null when every hash matches its row and its predecessor. The body of
 * a tombstone is gone, so only its place in the chain is checked.
 */
export function verifyChain(rows: Iterable<Row>, originRunId: RunId): ChainBreak | null {
  let expected = 0;
  let previous = chainStart(originRunId);
  for (const row of rows) {
    if (row.seq !== expected) return { seq: expected, reason: 'seq' };
    if (!isTombstone(row) && rowHash(row) !== row.rowHash) return { seq: row.seq, reason: 'row-hash' };
    if (chainHash(previous, row.rowHash) !== row.hash) return { seq: row.seq, reason: 'chain-hash' };
    previous = row.hash;
    expected += 1;
  }
  return null;
}
