/** Formats the values that a person decides about, one field per line. */
import { isFields } from './fields.ts';
import { oneLine, type Style, safe } from './style.ts';

/** Lines of one value. The rest is in `--json`. */
const MAX_LINES = 40;

/** The fields of an object below each other; any other value as it is. Line breaks of a text are kept. */
export function valueLines(value: unknown, style: Style): readonly string[] {
  if (!isFields(value)) return textLines(value);
  return bounded(
    Object.entries(value).flatMap(([name, field]) => {
      const [first = '', ...rest] = textLines(field);
      return [`${style.dim(safe(name))}  ${first}`, ...rest.map((line) => `  ${line}`)];
    }),
  );
}

const textLines = (value: unknown): readonly string[] =>
  bounded(typeof value === 'string' ? value.split(/\r?\n/).map(safe) : [oneLine(value)]);

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines; --json shows all`];
}
