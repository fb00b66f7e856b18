/** Patterns that users write: matched by RE2, in time linear to the text, never by the engine of the runtime. */
import { RE2JS } from 're2js';

export interface Pattern {
  readonly source: string;
  /** Whether the pattern occurs in the text. */
  test(text: string): boolean;
}

/** Longest pattern; what it compiles to grows with it. */
const MAX_PATTERN_LENGTH = 1_000;

/** Throws an Error that says what is wrong with the pattern; back-references and look-around are not supported. */
export function compilePattern(source: string, flags = ''): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`the pattern has ${source.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
  }
  const bits = (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes('s') ? RE2JS.DOTALL : 0);
  const compiled = RE2JS.compile(source, bits);
  return { source, test: (text) => compiled.matcher(text).find() };
}
