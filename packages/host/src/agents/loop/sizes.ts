/** How much of what a model says fits into the rows that have to hold it; what does not is refused where it is said, not where it is written. */
import type { Json } from '@cairn/protocol';
import { exceedsUtf8 } from '../../utf8.ts';

/** Of a turn, and of a node's outputs: a row holds 512 KiB, with some room for what stands around it. */
export const MAX_ROW_BYTES = 480 * 1024;

/** Of the arguments of a call: their row has them in both spellings. */
export const MAX_ARGUMENT_BYTES = 240_000;

/** Of what was said in an invocation: more than any model reads, and all of it is in memory and in every checkpoint of the run. */
export const MAX_SAID_CHARACTERS = 8_000_000;

/** Whether the JSON of a value has more bytes than that. */
export const exceeds = (value: Json, bytes: number): boolean => exceedsUtf8(JSON.stringify(value), bytes);
