/** How a verb is written down: its examples in the help, its exit code when it is done. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from './terminal.ts';

export type Example = readonly [command: string, meaning: string];

export function withExamples(command: Command, ...examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([text]) => text.length));
  const lines = examples.map(([text, meaning]) => `  ${text.padEnd(width)}   ${meaning}`.trimEnd());
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Every verb that talks to a host. */
export const withHostOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'the host to talk to')
    .option('--key <key>', 'the key to use (better: CAIRN_KEY, which other users do not see)')
    .option('--json', 'print JSON');

/** The verb is over: its exit code is the program's. */
export async function ends(terminal: Terminal, act: () => Promise<number>): Promise<void> {
  terminal.exit(await act());
}

/** An option that may be given several times. */
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
    throw new InvalidArgumentError(`${what} is a number ${range}.`);
  };
}
