/** Shows the findings of a check, one line each, and what to do about them. */
import type { Finding } from '../doctor-finding.ts';
import { type Style, safe } from './style.ts';
import { table } from './table.ts';

export function findingLines(findings: readonly Finding[], style: Style, columns: number | null): readonly string[] {
  const rows = findings.flatMap(({ subject, state, text, hint }) => {
    const [mark, colour] = marks[state];
    const row = [`${style[colour](mark)} ${subject}`, safe(text)];
    return hint === undefined ? [row] : [row, ['', style.dim(safe(hint))]];
  });
  return table(rows, { style, columns, wraps: true });
}

const marks = { good: ['✓', 'green'], doubtful: ['!', 'yellow'], bad: ['✗', 'red'] } as const;
