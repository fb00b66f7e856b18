/** Writes a bundle line by line. The same runs give the same bytes, whenever and wherever they are exported. */
import { createHash } from 'node:crypto';
import {
  BUNDLE_VERSION,
  type BundleBlob,
  type BundleDefinition,
  type BundleHeader,
  type BundleRow,
  type BundleRun,
  type RunId,
} from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';

/** What the line of a run holds. */
export type BundleRunFields = Omit<BundleRun, 'kind'>;

/** A row to write. Without a payload only its hashes remain. */
export type BundledRow = Omit<Row, 'payload' | 'task'> & { readonly payload: string | null };

export interface BundleSource {
  readonly runId: RunId;
  /** Each once, sorted by hash. */
  readonly definitions: Iterable<Omit<BundleDefinition, 'kind'>>;
  /** Each once, sorted by hash. Read only while it is written. */
  readonly blobs: Iterable<Omit<BundleBlob, 'kind'>>;
  /** The run itself, then the runs below it, each after its parent, or after a fork of its parent. The rows are in order, from the first. */
  readonly runs: Iterable<{ readonly run: BundleRunFields; readonly rows: Iterable<BundledRow> }>;
}

/** The lines, each without its newline. */
export function* bundleLines({ runId, definitions, blobs, runs }: BundleSource): Generator<string> {
  const bytes = createHash('sha256');
  const line = (value: BundleHeader | BundleDefinition | BundleBlob | BundleRun | BundleRow): string => {
    const text = JSON.stringify(value);
    bytes.update(`${text}\n`);
    return text;
  };
  yield line({ kind: 'cairn-bundle', version: BUNDLE_VERSION, runId });
  for (const { hash, body } of definitions) yield line({ kind: 'definition', hash, body });
  for (const { sha256, data } of blobs) yield line({ kind: 'blob', sha256, data });
  let runCount = 0;
  let rowCount = 0;
  for (const { run, rows } of runs) {
    yield line({ kind: 'run', ...run });
    runCount += 1;
    for (const row of rows) {
      yield line(rowLine(row));
      rowCount += 1;
    }
  }
  yield JSON.stringify({ kind: 'end', runs: runCount, rows: rowCount, sha256: bytes.digest('hex') });
}

/** Names every field, so that their order never depends on the store. */
const rowLine = (row: BundledRow): BundleRow => ({
  kind: 'row',
  seq: row.seq,
  at: row.at,
  type: row.type,
  nodeId: row.nodeId,
  cause: row.cause,
  audience: row.audience,
  payload: row.payload,
  rowHash: row.rowHash,
  hash: row.hash,
});
