/** Formats the error of a run: its message, its details and its documentation. */
import { errorKinds, type RunSnapshot } from '@cairn/protocol';
import { oneLine, type Style, safe } from './style.ts';

export function errorLines({ error }: RunSnapshot, style: Style): readonly string[] {
  if (error === undefined) return [];
  const lines = [`${style.red(safe(error.code))}: ${safe(error.message)}`];
  for (const [name, value] of Object.entries(error.details ?? {})) {
    if (name !== 'hint') lines.push(`  ${style.dim(`${safe(name)}:`)} ${oneLine(value, 300)}`);
  }
  const hint = error.details?.hint;
  if (typeof hint === 'string') lines.push(`  ${safe(hint)}`);
  if (Object.hasOwn(errorKinds, error.code)) lines.push(style.dim(`  see docs/errors/${error.code}.md`));
  return lines;
}
