/** Colours, how the reader types a command, and escaping of untrusted text. */
import { escapeText } from '../../escape-text.ts';

export interface Style {
  /** `npx cairn` where npm started the command: then `cairn` is not in PATH. */
  readonly cairn: string;
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

const coloured = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};

const colourless = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

/** How commands are written in a terminal with these variables. */
export const commandIn = (env: Readonly<Record<string, string | undefined>>): string =>
  env.npm_lifecycle_event === undefined ? 'cairn' : 'npx cairn';

export const styleOf = (isColoured: boolean, env: Parameters<typeof commandIn>[0] = {}): Style => ({
  ...(isColoured ? coloured : colourless),
  cairn: commandIn(env),
});

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
