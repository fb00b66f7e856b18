/** The lines of a bundle: a JSON Lines file that holds a run, the runs below it, and everything to read and verify them elsewhere. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';

/** The format version that this program reads and writes. */
export const BUNDLE_VERSION = 2;

const id = text.max(MAX_ID_LENGTH);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits');

/** The first line. It names no instant, so that exporting a run again gives the same bytes. */
export const bundleHeader = z.strictObject({
  kind: z.literal('cairn-bundle'),
  version: z.literal(BUNDLE_VERSION),
  /** The first run of the bundle. Each other run is below it. */
  runId: id,
});

/** Then each definition that a run is pinned to, sorted by hash, as the text that was hashed. */
export const bundleDefinition = z.strictObject({ kind: z.literal('definition'), hash: sha256, body: text });

/** Then each blob that an event names, sorted by hash. `data` is base64. */
export const bundleBlob = z.strictObject({ kind: z.literal('blob'), sha256, data: text });

/** Then each run, parents first: what it is, and the hash of its last row. */
export const bundleRun = z.strictObject({
  kind: z.literal('run'),
  runId: id,
  contextId: id,
  /** The run whose id begins the hash chain. */
  originRunId: id,
  parentRunId: id.nullable(),
  /** The workflow definition that the run is pinned to. */
  definitionHash: sha256,
  /** For a fork: its source, and its first row that is not the source's. */
  fork: z.strictObject({ sourceRunId: id, fromSeq: count, mode: z.enum(['replay', 'branch']) }).nullable(),
  /** Of the last row. */
  seq: count,
  hash: sha256,
});

/**
 * After the line of a run, its rows in order. The payload is the stored text, because the hashes cover its bytes. The
 * task face is left out: it follows from the rows.
 */
export const bundleRow = z.strictObject({
  kind: z.literal('row'),
  seq: count,
  at: z.int(),
  type: text,
  nodeId: z.string().nullable(),
  cause: z.union([count, id]).nullable(),
  audience: z.enum(['client', 'operator']),
  /** Null when the content was retired or withheld. The hashes remain, so the chain can still be walked. */
  payload: text.nullable(),
  rowHash: sha256,
  hash: sha256,
});

/** The last line: how many runs and rows there were, and the sha256 of every byte before this line. */
export const bundleEnd = z.strictObject({ kind: z.literal('end'), runs: count, rows: count, sha256 });

export type BundleHeader = DataOf<typeof bundleHeader>;
export type BundleDefinition = DataOf<typeof bundleDefinition>;
export type BundleBlob = DataOf<typeof bundleBlob>;
export type BundleRun = DataOf<typeof bundleRun>;
export type BundleRow = DataOf<typeof bundleRow>;
export type BundleEnd = DataOf<typeof bundleEnd>;
