/** Escapes characters that steer a terminal, forge a line of a log or reverse the reading direction. */

/**
 * Control characters (with ESC, which begins a terminal's commands, and C1, which has one-character forms of them), line
 * and paragraph separators, direction marks, invisible tags and lone surrogates.
 */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be replaced
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Each such character becomes `\uXXXX`, as in JSON, unless `keeps` returns it. */
export const escapeText = (text: string, keeps: (character: string) => string | null = () => null): string =>
  text.replace(STEERING, (character) => keeps(character) ?? escaped(character));

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${hex4(character.charCodeAt(i))}`).join('');

const hex4 = (unit: number): string => unit.toString(16).padStart(4, '0');
