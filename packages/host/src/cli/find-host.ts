/** Finds the host and the key of a command: options, then variables, then files here or in a parent folder. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Client, createClient, HostError } from '@cairn/client';
import { isCairnError, RetryableError, TerminalError } from '@cairn/protocol';
import { type HostNote, readHostNote } from './host-file.ts';
import type { Terminal } from './terminal.ts';

/** The options of every command that calls a host. */
export interface HostFlags {
  readonly url?: string;
  readonly key?: string;
  /** A person of a `cairn dev` host. */
  readonly as?: string;
  readonly json?: boolean;
}

export interface FoundHost {
  readonly url: string;
  readonly key: string;
  /** Where the address comes from, for error messages. */
  readonly source: string;
}

/** Runs a command against its host. The error for an unreachable host names the source of the address. */
export async function withHost<Result>(
  terminal: Terminal,
  flags: HostFlags,
  act: (client: Client) => Promise<Result>,
): Promise<Result> {
  const host = findHost(terminal, flags);
  try {
    return await act(createClient({ url: host.url, key: host.key }));
  } catch (error) {
    if (!isCairnError(error, 'service_unavailable') || error instanceof HostError) throw error;
    throw new RetryableError('service_unavailable', {
      message: error.message,
      hint: `The address comes from ${host.source}. Start that host, or pass another address with --url.`,
      cause: error,
    });
  }
}

/** A key from a file is sent only to the host of that file. */
export function findHost(terminal: Pick<Terminal, 'cwd' | 'env'>, flags: HostFlags): FoundHost {
  const { env } = terminal;
  if (flags.as !== undefined && flags.key !== undefined) {
    throw new TerminalError('config_invalid', {
      message: '--as and --key both say who you are.',
      hint: 'Pass one of them.',
    });
  }
  const url = flags.url ?? text(env.CAIRN_URL);
  if (url !== undefined) {
    const source = flags.url === undefined ? 'CAIRN_URL' : '--url';
    if (flags.as !== undefined) throw unknownHere(url);
    const key = flags.key ?? text(env.CAIRN_KEY);
    if (key === undefined) throw noKey(`the host ${url}`, 'Pass one with --key, or set CAIRN_KEY.');
    return { url: checkedUrl(url, source), key, source };
  }
  for (const folder of upward(terminal.cwd)) {
    const note = readHostNote(join(folder, '.cairn'));
    if (note !== null) return { url: note.url, key: keyIn(note, flags), source: join(folder, '.cairn', 'host.json') };
  }
  for (const folder of upward(terminal.cwd)) {
    const file = join(folder, 'cairn.json');
    if (existsSync(file) && flags.as !== undefined) throw unknownHere(`of ${file}`);
    if (existsSync(file)) return fromConfiguration(file, terminal, flags);
  }
  throw new TerminalError('config_invalid', {
    message: 'No host found: no host runs in this folder or its parent folders, and no address was given.',
    hint: 'Start one with "cairn dev", or pass --url and --key (or set CAIRN_URL and CAIRN_KEY).',
  });
}

const unknownHere = (host: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `--as names a person of "cairn dev" in this folder, and the host is ${host}.`,
    hint: 'Pass the key of the person with --key.',
  });

/** The key of the person, or else the one given, or else that of the developer. */
function keyIn({ key, people = {} }: HostNote, flags: HostFlags): string {
  if (flags.as === undefined) return flags.key ?? key;
  const found = Object.hasOwn(people, flags.as) ? people[flags.as] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(people);
  throw new TerminalError('config_invalid', {
    message: `There is no person ${JSON.stringify(flags.as)} on this host${names.length === 0 ? '' : `; there are ${names.join(', ')}`}.`,
    hint: `Start the host with "cairn dev --people ${[...names, flags.as].join(',')}".`,
  });
}

/** This folder and its parents, up to the root. */
export function* upward(folder: string): Generator<string> {
  yield folder;
  const parent = dirname(folder);
  if (parent !== folder) yield* upward(parent);
}

/** The fields that the client reads. The file may belong to a newer host, so it ignores the rest. */
interface Configuration {
  readonly port?: unknown;
  readonly bind?: unknown;
  readonly publicUrl?: unknown;
  readonly keys?: unknown;
}

function fromConfiguration(file: string, { env }: Pick<Terminal, 'env'>, flags: HostFlags): FoundHost {
  const config = readConfiguration(file);
  const written = writtenKey(config.keys);
  const key = flags.key ?? text(env.CAIRN_KEY) ?? written ?? namedKey(config.keys, env);
  if (key === undefined) {
    const hint =
      'Pass one with --key, or set CAIRN_KEY: the file contains only hashes of keys, or variables that are not set.';
    throw noKey(`the host of ${file}`, hint);
  }
  const url = addressIn(file, config, env);
  const isOwn = key === flags.key || key === written || text(env.CAIRN_PUBLIC_URL) !== undefined;
  if (isOwn || isThisMachine(url)) return { url, key, source: file };
  throw new TerminalError('config_invalid', {
    message: `${file} would send a key from the environment to ${url}.`,
    hint: 'A file must not decide that, because it may come from somebody else. Pass the host with --url or CAIRN_URL.',
  });
}

function addressIn(file: string, config: Configuration, env: Terminal['env']): string {
  const named = text(env.CAIRN_PUBLIC_URL) ?? config.publicUrl;
  if (typeof named === 'string') return checkedUrl(named, file);
  const port = Number(text(env.CAIRN_PORT) ?? config.port ?? 4700);
  const bind = String(text(env.CAIRN_BIND) ?? config.bind ?? '127.0.0.1');
  if (port === 0) {
    throw new TerminalError('config_invalid', {
      message: `${file} sets port 0 (any free port), so the address of the host is unknown.`,
      hint: 'Pass it with --url. The host printed it in its ready line.',
    });
  }
  const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[bind] ?? (bind.includes(':') ? `[${bind}]` : bind);
  return checkedUrl(`http://${name}:${port}`, file);
}

const isThisMachine = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

function readConfiguration(file: string): Configuration {
  try {
    const config: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof config === 'object' && config !== null) return config;
  } catch {
    // Reported below. The parser's message may quote a key.
  }
  throw new TerminalError('config_invalid', {
    message: `${file} cannot be read, or is not a JSON object.`,
    hint: '"cairn doctor" shows what is wrong with it.',
  });
}

const entriesOf = (keys: unknown): readonly { readonly key?: unknown; readonly keyEnv?: unknown }[] =>
  (Array.isArray(keys) ? keys : []).map((entry) => entry ?? {});

/** The first key in the file itself. */
const writtenKey = (keys: unknown): string | undefined =>
  entriesOf(keys)
    .map(({ key }) => key)
    .find((key) => typeof key === 'string');

/** The first key whose environment variable is set. */
const namedKey = (keys: unknown, env: Terminal['env']): string | undefined =>
  entriesOf(keys)
    .map(({ keyEnv }) => (typeof keyEnv === 'string' ? text(env[keyEnv]) : undefined))
    .find((key) => key !== undefined);

function checkedUrl(url: string, source: string): string {
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return url;
  throw new TerminalError('config_invalid', {
    message: `${JSON.stringify(url)} (from ${source}) is not the address of a host.`,
    hint: 'Use the form http://127.0.0.1:4700.',
  });
}

const noKey = (host: string, hint: string): TerminalError =>
  new TerminalError('config_invalid', { message: `There is no key for ${host}.`, hint });

const text = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
