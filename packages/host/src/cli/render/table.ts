/** Formats aligned columns, cut or wrapped to the width of the screen. */
import { stripVTControlCharacters } from 'node:util';
import type { Style } from './style.ts';

/** The number of terminal cells of a text. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (/\p{Mark}|\u200d/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

export interface TableOptions {
  readonly header?: readonly string[];
  readonly style: Style;
  /** The width of the screen; null for no limit. */
  readonly columns: number | null;
  readonly indent?: string;
  /** Whether long rows go on in a further line, for rows that tell an error. Without it they are cut. */
  readonly wraps?: boolean;
}

/** Columns are two spaces apart. The last column is not padded. The header is cut if it is too long. */
export function table(rows: readonly (readonly string[])[], options: TableOptions): readonly string[] {
  const { header, style, columns, indent = '', wraps = false } = options;
  const all = header === undefined ? rows : [header, ...rows];
  const widths = (all[0] ?? []).map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const lineOf = (row: readonly string[]) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0)));
    return `${indent}${cells.join('  ')}`.trimEnd();
  };
  const shorten = (line: string) => (columns === null ? line : cut(line, columns));
  const lines = rows.map(lineOf).flatMap((line) => (wraps ? wrap(line, columns) : [shorten(line)]));
  return header === undefined ? lines : [style.dim(shorten(lineOf(header))), ...lines];
}

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Cuts a line to this many cells. Colour codes do not count, and open colours are reset. */
export function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let width = 0;
  let kept = '';
  for (const [part, colour] of line.matchAll(PARTS)) {
    if (colour === undefined) {
      width += widthOf(part);
      if (width > columns - 1) return `${kept}…${kept.includes(ESCAPE) ? RESET : ''}`;
    }
    kept += part;
  }
  return kept;
}

/** Breaks a line at the width of the screen, at a space if there is one, without losing text. Later lines are indented. */
export function wrap(line: string, columns: number | null, indent = ''): readonly string[] {
  const whole = `${indent}${line}`;
  if (columns === null || widthOf(whole) <= columns) return [whole];
  const deeper = `${/^ */.exec(whole)?.[0] ?? ''}  `;
  const lines: string[] = [];
  let colour = '';
  let rest = whole;
  while (widthOf(rest) > columns) {
    const head = headOf(rest, columns, deeper.length);
    for (const [code] of head.matchAll(COLOURS)) colour = OFF.test(code) ? '' : code;
    lines.push(`${head.trimEnd()}${colour === '' ? '' : RESET}`);
    rest = `${deeper}${colour}${rest.slice(head.length).trimStart()}`;
  }
  return [...lines, rest];
}

/** The part of a line that fits: up to its last space after the indent, or as many cells as there are. */
function headOf(line: string, columns: number, least: number): string {
  let width = 0;
  let head = '';
  let atSpace = 0;
  for (const [part, colour] of line.matchAll(PARTS)) {
    if (colour === undefined) width += widthOf(part);
    if (width > columns) break;
    head += part;
    if (part === ' ' && width > least) atSpace = head.length;
  }
  // On a screen of a few cells the indent alone may fill the line.
  if (head.trim() === '') return line.slice(0, head.length + 1);
  return atSpace > 0 && head.slice(0, atSpace).trim() !== '' ? head.slice(0, atSpace) : head;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of colours begin with one
const COLOURS = /\u001b\[[0-9;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of colours begin with one
const OFF = /\u001b\[(?:0|22|39)m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of colours begin with one
const PARTS = /(\u001b\[[0-9;]*m)|./gsu;
const ESCAPE = '\u001b';
const RESET = `${ESCAPE}[0m`;
