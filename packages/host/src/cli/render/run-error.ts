/** Formats the error of a run: its message, its details and the command that explains it. */
import { errorKinds, type RunSnapshot } from '@cairn/protocol';
import { commandHint } from '../command-hint.ts';
import { oneLine, type Style, safe } from './style.ts';

export function errorLines({ error }: RunSnapshot, style: Style): readonly string[] {
  if (error === undefined) return [];
  const lines = [`${style.red(safe(error.code))}: ${safe(error.message)}`];
  for (const [name, value] of Object.entries(error.details ?? {})) {
    if (name !== 'hint') lines.push(`  ${style.dim(`${safe(name)}:`)} ${oneLine(value)}`);
  }
  const hint = error.details?.hint;
  if (typeof hint === 'string') lines.push(`  ${safe(commandHint(hint, error.details))}`);
  if (Object.hasOwn(errorKinds, error.code)) lines.push(style.dim(`  ${style.cairn} explain ${error.code}`));
  return lines;
}
