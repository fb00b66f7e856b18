/** Colours, and escaping of untrusted text. */
import { escapeText } from '../../escape-text.ts';

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

export type Paint = (text: string) => string;

const paint =
  (on: number, off: number): Paint =>
  (text) =>
    `\u001b[${on}m${text}\u001b[${off}m`;

const plain: Paint = (text) => text;

const coloured: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};

const colourless: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

export const styleOf = (isColoured: boolean): Style => (isColoured ? coloured : colourless);

/** The escape sequences of the colours above and of a reset, as a group. No others reach the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
export const ownColour = /(\u001b\[(?:0|1|2|22|31|32|33|36|39)m)/;

/** Escapes control characters, because text from a host, a workflow or a person could control the terminal. */
export const safe = (text: string): string => escapeText(text, (character) => shortForms.get(character) ?? null);

const shortForms: ReadonlyMap<string, string> = new Map([
  ['\t', ' '],
  ['\n', '\\n'],
]);

/** A value as one line of JSON that is safe to print and parses to the same value. */
export const jsonLine = (value: unknown): string => safe(JSON.stringify(value));

/** A value on one line, cut to an optional width. */
export function oneLine(value: unknown, width = Number.POSITIVE_INFINITY): string {
  const text = safe(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
}

/** A value as indented JSON. */
export const manyLines = (value: unknown): readonly string[] =>
  (JSON.stringify(value, null, 2) ?? 'null').split('\n').map(safe);
