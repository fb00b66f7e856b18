/** Formats what changed in a value or a text between two runs. */
import type { TextPart, ValueChange } from '@cairn/protocol';
import { oneLine, type Style, safe } from './style.ts';
import { wrap } from './table.ts';

export interface DiffPlace {
  readonly style: Style;
  /** The width of the screen; null for no limit. */
  readonly columns: number | null;
}

const marks = { added: '+', removed: '-', changed: '~' } as const;

export function markOf(op: keyof typeof marks, style: Style): string {
  return { added: style.green, removed: style.red, changed: style.yellow }[op](marks[op]);
}

export function changeLines({ path, a, b, text }: ValueChange, place: DiffPlace, indent: string): readonly string[] {
  const { style, columns } = place;
  const lines = path === '' ? [] : wrap(style.cyan(oneLine(path)), columns, indent);
  const inner = `${indent}  `;
  if (text !== undefined) return [...lines, ...textLines(text, place, inner)];
  return [
    ...lines,
    ...(a === undefined ? [] : wrap(style.red(`- ${oneLine(a)}`), columns, inner)),
    ...(b === undefined ? [] : wrap(style.green(`+ ${oneLine(b)}`), columns, inner)),
  ];
}

/** A text of several lines line by line; one line as a whole, with its changed words marked. */
function textLines(parts: readonly TextPart[], { style, columns }: DiffPlace, indent: string): readonly string[] {
  if (!parts.some(({ text }) => text.includes('\n'))) {
    const shown = parts.map(({ op, text }) => {
      if (op === 'added') return style.green(`{+${oneLine(text)}+}`);
      return op === 'removed' ? style.red(`[-${oneLine(text)}-]`) : oneLine(text);
    });
    return wrap(shown.join(''), columns, indent);
  }
  return parts.flatMap(({ op, text }) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .flatMap((line) => wrap(diffLine(op, line, style), columns, indent)),
  );
}

/** A line of a text in both runs, or in one of them. */
export function diffLine(op: TextPart['op'], line: string, style: Style): string {
  if (op === 'added') return style.green(`+ ${safe(line)}`);
  return op === 'removed' ? style.red(`- ${safe(line)}`) : style.dim(`  ${safe(line)}`);
}
