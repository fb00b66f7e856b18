/** The lines of a signed checkpoint: where the logs of some runs stood, signed by their host. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, instant, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';

/** The format version that this program reads and writes. */
export const CHECKPOINT_VERSION = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits');
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the 32 bytes of a key as base64url');

/** The first line. */
export const checkpointHeader = z.strictObject({
  kind: z.literal('cairn-checkpoint'),
  version: z.literal(CHECKPOINT_VERSION),
  /** When the checkpoint was made, by the clock of the host. */
  at: instant,
  /** The Ed25519 key of the signature. */
  publicKey,
});

/** Then each run: its last event at that time. */
export const checkpointRun = z.strictObject({
  kind: z.literal('run'),
  runId: text.max(MAX_ID_LENGTH),
  seq: count,
  hash: sha256,
});

/** The last line: the sha256 of every byte before it, and the signature of that. */
export const checkpointSignature = z.strictObject({
  kind: z.literal('signature'),
  runs: count,
  sha256,
  signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'must be the 64 bytes of a signature as base64url'),
});

export type CheckpointHeader = DataOf<typeof checkpointHeader>;
export type CheckpointRun = DataOf<typeof checkpointRun>;
