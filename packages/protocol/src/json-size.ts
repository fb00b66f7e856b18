/** The size of a JSON value, without serialising it. */
import { isJsonObject, type Json } from './json.ts';

/** What a number counts, whatever its digits. */
const NUMBER_BYTES = 8;

/** About the bytes of the value as JSON in UTF-8: texts without their escapes, numbers at a fixed price. */
export function jsonSize(value: Json | undefined): number {
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
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += 1 + jsonSize(item);
  else if (isJsonObject(value)) for (const key in value) bytes += 4 + textSize(key) + jsonSize(value[key]);
  return bytes;
}

/** A longer text is measured by the encoder, which takes a fiftieth of the time. */
const LONG_TEXT = 1_024;

function textSize(text: string): number {
  if (text.length > LONG_TEXT) return encodedSize(text);
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // Each half of a surrogate pair takes two of the pair's four bytes.
    if (code >= 0x80) bytes += code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** The same but for half of a surrogate pair alone, which is encoded as a mark of three bytes. */
function encodedSize(text: string): number {
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(Math.min(3 * text.length, 65_536));
  let bytes = 0;
  for (let from = 0; from < text.length; ) {
    const { read, written } = encoder.encodeInto(from === 0 ? text : text.slice(from), buffer);
    bytes += written;
    from += read;
  }
  return bytes;
}
