/** Reads a few members from the JSON text of an object without parsing the rest, which may be a megabyte. */
import type { Json } from '@cairn/protocol';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Returns the values of the wanted members, in the given order: undefined for a missing one, the first of a repeated
 * one. Stops once all are found, or at the member `until`. Expects the text that `JSON.stringify` writes. Finds nothing
 * in other formats or in values that are not objects.
 */
export function readMembers(text: string, wanted: readonly string[], until?: string): readonly (Json | undefined)[] {
  const found = new Array<Json | undefined>(wanted.length).fill(undefined);
  if (text.charCodeAt(0) !== OPEN_BRACE) return found;
  let left = wanted.length;
  let at = 1;
  while (left > 0 && text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    if (keyEnd === -1 || text.charCodeAt(keyEnd) !== COLON) break;
    const key = text.slice(at + 1, keyEnd - 1);
    if (key === until) break;
    const end = valueEnd(text, keyEnd + 1);
    if (end === -1) break;
    const place = wanted.indexOf(key);
    if (place !== -1 && found[place] === undefined) {
      // Parsed, not sliced: a slice would keep the whole text in memory.
      found[place] = JSON.parse(text.slice(keyEnd + 1, end));
      left -= 1;
    }
    if (text.charCodeAt(end) !== COMMA) break;
    at = end + 1;
  }
  return found;
}

/** The index after the closing quote of the string that starts here; -1 when it does not close. */
function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/** The index after the value that starts here; -1 when it does not end. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      if (end === -1) return -1;
      at = end - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === COMMA && depth === 0) return at;
  }
  return -1;
}
