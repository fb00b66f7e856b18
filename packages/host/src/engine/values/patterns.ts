/** User-defined patterns. RE2 matches them in linear time; the JavaScript regex engine never sees them. */
import { RE2JS } from 're2js';

export interface Pattern {
  readonly source: string;
  /** Whether the pattern occurs in the text. */
  test(text: string): boolean;
}

/** The maximum length of a pattern. The compiled size grows with the length. */
const MAX_PATTERN_LENGTH = 1_000;

/** Throws an Error that explains the problem. Back-references and look-around are not supported. */
export function compilePattern(source: string, flags = ''): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`the pattern has ${source.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
  }
  const bits = (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes('s') ? RE2JS.DOTALL : 0);
  const compiled = RE2JS.compile(source, bits);
  return { source, test: (text) => compiled.matcher(text).find() };
}
