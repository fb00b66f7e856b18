/** The size of a JSON value, without serialising it. */
import { isJsonObject, type Json } from './json.ts';

/** What a number counts, whatever its digits. */
const NUMBER_BYTES = 8;

/** About the bytes of the value as JSON in UTF-8: texts without their escapes, numbers at a fixed price. */
export const jsonSize = (value: Json | undefined): number => sizeOf(value, BRACKETS);

/**
 * The same for a value that stays in memory. An empty object is two bytes of JSON and 64 of memory: five million of them fit
 * in a state of 16 MB, and two readers of such a state ended the host.
 */
export const heldSize = (value: Json | undefined): number => sizeOf(value, HELD_PART);

const BRACKETS = 2;
/** What a list or an object counts beside its items. */
const HELD_PART = 16;

function sizeOf(value: Json | undefined, part: number): number {
  switch (typeof value) {
    case 'string':
      return 2 + textSize(value);
    case 'number':
      return NUMBER_BYTES;
    case 'object':
      if (value === null) return 4;
      break;
    default:
      return 4;
  }
  let bytes = part;
  if (Array.isArray(value)) for (const item of value) bytes += 1 + sizeOf(item, part);
  else if (isJsonObject(value)) for (const key in value) bytes += 4 + textSize(key) + sizeOf(value[key], part);
  return bytes;
}

const NOT_ASCII = /[^\0-\x7f]/;

function textSize(text: string): number {
  // The search is compiled code from the first call on, so a long text of ASCII takes no loop.
  if (!NOT_ASCII.test(text)) return text.length;
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // Each half of a surrogate pair takes two of the pair's four bytes.
    if (code >= 0x80) bytes += code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
