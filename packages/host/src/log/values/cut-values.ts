/** Finds the large values in a JSON text, so that the store can keep each of them once. */

/**
 * The fewest characters of a value that is kept apart. A smaller one costs more in look-ups than it saves: a page of the
 * database has 4,096 bytes.
 */
export const LARGE_VALUE_CHARS = 4_096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** After this many characters of a string, a native search is faster than a loop. */
const SHORT_STRING = 64;

/**
 * Returns the start and end of each large value, in order, as one flat list. A large string is cut by itself. A list or
 * an object is cut if much is left of it without its own cuts; then they belong to it. So the cuts of a value depend on
 * nothing around it, and the same value is cut alike in every event. The outermost value is never cut.
 */
export function largeValues(text: string): readonly number[] {
  const cuts: number[] = [];
  /** For each open list or object: where it starts, how many cuts came before it, and how many characters they have. */
  const open: number[] = [];
  let cutChars = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // Digits, commas, colons: nearly all of the text outside strings.
    if (code < OPEN_LIST && code !== QUOTE) continue;
    if (code === QUOTE) {
      const start = i;
      i = endOfString(text, start);
      const chars = i + 1 - start;
      if (open.length === 0 || chars < LARGE_VALUE_CHARS) continue;
      cuts.push(start, i + 1);
      cutChars += chars;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      open.push(i, cuts.length, cutChars);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const before = open.pop() ?? 0;
      const count = open.pop() ?? 0;
      const start = open.pop() ?? 0;
      const chars = i + 1 - start;
      if (open.length === 0 || chars - (cutChars - before) < LARGE_VALUE_CHARS) continue;
      cuts.length = count;
      cuts.push(start, i + 1);
      cutChars = before + chars;
    }
  }
  return cuts;
}

/** The place of the quote that ends the string. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < start + SHORT_STRING; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i += 1;
  }
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, place: number): boolean {
  let first = place;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (place - first) % 2 === 1;
}
