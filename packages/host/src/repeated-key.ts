/**
 * Finds a key that occurs twice in one object of JSON text. JSON.parse keeps only the last one, while a person or another
 * parser may go by the first.
 */

/** The key, or null. `value` is the parsed text: one of its objects then has fewer members than the text. */
export const repeatedKeyIn = (text: string, value: unknown): string | null =>
  membersIn(text) === membersOf(value) ? null : repeatedKey(text);

function membersIn(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) i = endOfString(text, i);
    else if (char === COLON) members += 1;
  }
  return members;
}

const QUOTE = 0x22;
const COLON = 0x3a;

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const held: readonly unknown[] = Object.values(value);
  let members = Array.isArray(value) ? 0 : held.length;
  for (const item of held) members += membersOf(item);
  return members;
}

/** The first key that occurs twice in one object of well-formed text. Called only when there is one. */
export function repeatedKey(text: string): string {
  const open: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '{') open.push(new Set());
    else if (char === '[') open.push(null);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"') {
      const end = endOfString(text, i);
      if (/^\s*:/.test(text.slice(end + 1, end + 64))) {
        const key: string = JSON.parse(text.slice(i, end + 1));
        const keys = open.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
      }
      i = end;
    }
  }
  return '';
}

/** Index of the quote that closes the string at `start`; the text's length when the string is unterminated. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
