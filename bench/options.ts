/** The arguments of `npm run bench`. */
import { parseArgs } from 'node:util';
import { TerminalError } from '@cairn/protocol';

const stores = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof stores)[number];

export interface BenchOptions {
  /** Groups and figures; none means all. */
  readonly names: readonly string[];
  readonly store: StoreName;
  readonly quick: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parsed(args);
  const { store = 'sqlite', quick = false, json = false, help = false } = values;
  const known = stores.find((name) => name === store);
  if (known === undefined) throw refused(`There is no store named ${store}: it is one of ${stores.join(', ')}.`);
  return { names: positionals, store: known, quick, json, help };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        store: { type: 'string' },
        quick: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What follows the first sentence is about arguments that no figure has.
    throw refused(`${error.message.split('. ')[0]}.`);
  }
}

const refused = (message: string) =>
  new TerminalError('config_invalid', {
    message,
    hint: '"npm run bench -- --help" lists options, groups and figures.',
  });
