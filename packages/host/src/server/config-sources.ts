/** Where the configuration comes from: the file, over it the environment, over that the command line. */
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { type Environment, type HostConfig, parseConfig } from './config.ts';

export interface ConfigSources {
  /** Path of `cairn.json`; without one only environment and flags count. */
  readonly file?: string | undefined;
  readonly env: Environment;
  /** Values of the command line; they win. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Values for what nobody gave. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

export async function readConfig(sources: ConfigSources): Promise<HostConfig> {
  const file = sources.file === undefined ? {} : await readConfigFile(sources.file);
  const given = Object.fromEntries(Object.entries(sources.flags ?? {}).filter(([, value]) => value !== undefined));
  const merged = { ...sources.defaults, ...file, ...fromEnvironment(sources.env), ...given };
  return parseConfig(merged, sources.file ?? 'configuration', sources.env);
}

/** Relative folders in the file are relative to the file, so that it means the same from everywhere. */
async function readConfigFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new TerminalError('config_invalid', {
      message: `The configuration ${path} cannot be read: ${(cause as Error).message}.`,
      hint: 'Check the path given with --config.',
      cause,
    });
  }
  const config = parseJson(text, path);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new TerminalError('config_invalid', { message: `${path}: the configuration must be a JSON object.` });
  }
  const base = dirname(resolve(path));
  const { data, workflows, ...rest } = config as Record<string, unknown>;
  return {
    ...rest,
    ...(data === undefined ? {} : { data: typeof data === 'string' ? resolve(base, data) : data }),
    ...(workflows === undefined ? {} : { workflows: resolveAll(workflows, base) }),
  };
}

const resolveAll = (folders: unknown, base: string): unknown =>
  Array.isArray(folders)
    ? folders.map((folder) => (typeof folder === 'string' ? resolve(base, folder) : folder))
    : folders;

/** Every key has a variable: numbers and switches as text, folders as a path list, keys and limits as JSON. */
function fromEnvironment(env: Environment): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [variable, key, read] of variables) {
    const text = env[variable];
    if (text !== undefined && text !== '') found[key] = read(text, variable);
  }
  return found;
}

type Read = (text: string, variable: string) => unknown;
const asText: Read = (text) => text;
const asNumber: Read = (text) => (/^\d+$/.test(text) ? Number(text) : text);
const asSwitch: Read = (text) => ({ true: true, '1': true, false: false, '0': false })[text] ?? text;
const asPaths: Read = (text) => text.split(delimiter).filter((path) => path !== '');
const asJson: Read = (text, variable) => parseJson(text, variable);

const variables: readonly (readonly [variable: string, key: string, read: Read])[] = [
  ['CAIRN_PORT', 'port', asNumber],
  ['CAIRN_BIND', 'bind', asText],
  ['CAIRN_DATA', 'data', asText],
  ['CAIRN_HOST_ID', 'hostId', asText],
  ['CAIRN_PUBLIC_URL', 'publicUrl', asText],
  ['CAIRN_KEYS', 'keys', asJson],
  ['CAIRN_WORKFLOWS', 'workflows', asPaths],
  ['CAIRN_LIMITS', 'limits', asJson],
  ['CAIRN_CONFORMANCE', 'conformance', asSwitch],
];

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's message may quote the text, and a configuration holds keys: only the place is repeated.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec((cause as Error).message)?.[0];
    throw new TerminalError('config_invalid', {
      message: `${source} is not valid JSON${place === undefined ? '' : ` at ${place}`}.`,
      hint: 'Comments and trailing commas are not part of JSON.',
    });
  }
}
