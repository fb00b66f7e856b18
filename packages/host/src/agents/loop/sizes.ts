/** How much of what a model says fits into the rows that have to hold it; what does not is refused where it is said, not where it is written. */
import type { Json } from '@cairn/protocol';

/** Of a turn, and of a node's outputs: a row holds 512 KiB, with some room for what stands around it. */
export const MAX_ROW_BYTES = 480 * 1024;

/** Of the arguments of a call: their row has them in both spellings. */
export const MAX_ARGUMENT_BYTES = 240_000;

/** Of what was said in an invocation: more than any model reads, and all of it is in memory and in every checkpoint of the run. */
export const MAX_SAID_CHARACTERS = 8_000_000;

const encoder = new TextEncoder();

/** Whether the JSON of a value has more bytes than that. */
export function exceeds(value: Json, bytes: number): boolean {
  const text = JSON.stringify(value);
  if (text.length > bytes) return true;
  // Each UTF-16 unit is at most 3 bytes.
  return text.length * 3 > bytes && encoder.encode(text).length > bytes;
}
