/** Estimates how hard a key or secret is to guess, from its length and alphabet. */

/** A key or secret below this is guessable. `cairn key` makes keys of 256 bits. */
export const MIN_KEY_BITS = 128;

/** The alphabets a key is usually drawn from, smallest first. */
const alphabets: readonly { readonly size: number; readonly pattern: RegExp }[] = [
  { size: 10, pattern: /^[0-9]*$/ },
  { size: 16, pattern: /^([0-9a-f]*|[0-9A-F]*)$/ },
  { size: 26, pattern: /^([a-z]*|[A-Z]*)$/ },
  { size: 36, pattern: /^([0-9a-z]*|[0-9A-Z]*)$/ },
  { size: 38, pattern: /^([0-9a-z_-]*|[0-9A-Z_-]*)$/ },
  { size: 62, pattern: /^[0-9A-Za-z]*$/ },
  { size: 64, pattern: /^[0-9A-Za-z+/=_-]*$/ },
  { size: 95, pattern: /^[\x20-\x7e]*$/ },
];

/** Of a UUID, six bits are fixed; in version 7, 48 more are the time. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An upper bound of the randomness in a text, in bits. It cannot see that a text is made of words. */
export function keyBits(text: string): number {
  const uuid = UUID.exec(text);
  if (uuid !== null) return uuid[1] === '7' ? 74 : 122;
  const varied = withoutSequences(onceOf(text));
  const size = alphabets.find(({ pattern }) => pattern.test(text))?.size ?? 128;
  return Math.floor(varied.length * Math.log2(size));
}

/** A text that repeats a shorter one holds no more than that one. */
function onceOf(text: string): string {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.slice(period) === text.slice(0, -period)) return text.slice(0, period);
  }
  return text;
}

/** Six or more characters that each repeat or follow the one before, such as "aaaaaa" or "654321". */
const MIN_SEQUENCE = 6;

/** Shortens each such sequence to its first character. In a random key of 32 hex digits, one in 10,000 has any. */
function withoutSequences(text: string): string {
  let left = '';
  for (let i = 0; i < text.length; ) {
    const length = sequenceAt(text, i);
    const isSequence = length >= MIN_SEQUENCE;
    left += text[i];
    i += isSequence ? length : 1;
  }
  return left;
}

function sequenceAt(text: string, start: number): number {
  const step = text.charCodeAt(start + 1) - text.charCodeAt(start);
  if (Math.abs(step) > 1 || Number.isNaN(step)) return 1;
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end += 1;
  return end - start;
}
