/** Refuses options that a definition in code does not have. The compiler misses a typo in an object built elsewhere. */
import { quoted, TerminalError } from '@cairn/protocol';
import { nearest } from '../../nearest.ts';

/** Every option of `Options`, as data. The compiler refuses a list that is not complete. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** `of` names what is defined and where, for example `The agent "host:desk"`. */
export function refuseUnknownOptions<Options extends object>(
  of: string,
  options: Options,
  known: OptionNames<Options>,
): void {
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  throw new TerminalError('config_invalid', {
    message: `${of} cannot be defined: it has no option ${quoted(unknown, 80)}.`,
    hint: near === null ? `Its options are ${names.join(', ')}.` : `Did you mean ${near}?`,
    details: { field: unknown },
  });
}
