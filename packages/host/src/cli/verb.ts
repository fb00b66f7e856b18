/** What the definitions of verbs share: examples in the help, common options, exit codes. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from './terminal.ts';

export type Example = readonly [command: string, meaning: string];

export function withExamples(command: Command, ...examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([text]) => text.length));
  const lines = examples.map(([text, meaning]) => `  ${text.padEnd(width)}   ${meaning}`.trimEnd());
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** The options of every verb that calls a host. */
export const withHostOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the host')
    .option('--key <key>', 'API key (CAIRN_KEY is safer: other users of the machine cannot see it)')
    .option('--as <person>', 'act as this person of "cairn dev --people"')
    .option('--json', 'print JSON');

/** Runs a verb and exits with its code. */
export async function exitWith(terminal: Terminal, act: () => Promise<number>): Promise<void> {
  terminal.exit(await act());
}

/** An option that can be repeated. */
export const repeated = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);

export function wholeNumber(what: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`${what} must be a number ${range}.`);
  };
}
