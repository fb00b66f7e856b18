/** The lines of a bundle: a JSON Lines file that holds one run and everything needed to read and verify it elsewhere. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, instant, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';

/** The format version that this program reads and writes. */
export const BUNDLE_VERSION = 2;

const id = text.max(MAX_ID_LENGTH);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits');

/** The first line: the run, and the hash of its last row. */
export const bundleHeader = z.strictObject({
  kind: z.literal('cairn-bundle'),
  version: z.literal(BUNDLE_VERSION),
  exportedAt: instant,
  run: z.strictObject({
    runId: id,
    contextId: id,
    /** The run whose id begins the hash chain. */
    originRunId: id,
    parentRunId: id.nullable(),
    /** The definition the run is pinned to. */
    definitionHash: sha256,
    /** Of the last row. */
    seq: count,
    hash: sha256,
  }),
});

/** The second line: the definition, as the text that was hashed. */
export const bundleDefinition = z.strictObject({ kind: z.literal('definition'), hash: sha256, body: text });

/** Then each row in order; the payload is the stored text, because the hashes cover its bytes. */
export const bundleRow = z.strictObject({
  kind: z.literal('row'),
  seq: count,
  at: z.int(),
  type: text,
  nodeId: z.string().nullable(),
  cause: z.union([count, id]).nullable(),
  audience: z.enum(['client', 'operator']),
  payload: text,
  task: text.nullable(),
  rowHash: sha256,
  hash: sha256,
});

/** The last line: how many rows there were, and the sha256 of every byte before this line. */
export const bundleEnd = z.strictObject({ kind: z.literal('end'), rows: count, sha256 });

export type BundleHeader = DataOf<typeof bundleHeader>;
export type BundleDefinition = DataOf<typeof bundleDefinition>;
export type BundleRow = DataOf<typeof bundleRow>;
export type BundleEnd = DataOf<typeof bundleEnd>;
