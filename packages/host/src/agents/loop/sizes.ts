/**
 * Size limits for model output, so that every row fits. The loop rejects oversized output early, not when it writes the
 * row.
 */
import type { Json } from '@cairn/protocol';
import { exceedsUtf8 } from '../../utf8.ts';

/** Limit for a turn and for a node's outputs. A row holds 512 KiB; the rest is room for its other fields. */
export const MAX_ROW_BYTES = 480 * 1024;

/** Limit for the arguments of a call, which its row holds twice (in both spellings). */
export const MAX_ARGUMENT_BYTES = 240_000;

/** Limit for all messages of an invocation. No model reads more, and every checkpoint of the run holds them. */
export const MAX_SAID_CHARACTERS = 8_000_000;

/** Whether the JSON of a value exceeds this many bytes. */
export const exceeds = (value: Json, bytes: number): boolean => exceedsUtf8(JSON.stringify(value), bytes);
