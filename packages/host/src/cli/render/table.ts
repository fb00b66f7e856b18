/** Formats aligned columns, cut to the width of the screen. */
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
}

/** Columns are two spaces apart. The last column is not padded, and it is cut if the line is too long. */
export function table(rows: readonly (readonly string[])[], options: TableOptions): readonly string[] {
  const { header, style, columns, indent = '' } = options;
  const all = header === undefined ? rows : [header, ...rows];
  const widths = (all[0] ?? []).map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const lines = all.map((row) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0)));
    const line = `${indent}${cells.join('  ')}`.trimEnd();
    return columns === null ? line : cut(line, columns);
  });
  return header === undefined ? lines : [style.dim(lines[0] ?? ''), ...lines.slice(1)];
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of colours begin with one
const PARTS = /(\u001b\[[0-9;]*m)|./gsu;
const ESCAPE = '\u001b';
const RESET = `${ESCAPE}[0m`;
