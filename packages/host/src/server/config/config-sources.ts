/** Reads the configuration. The environment overrides the file, and the command line overrides both. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TerminalError, thrownText } from '@cairn/protocol';
import { type Environment, type HostConfig, parseConfig } from './config.ts';
import { parseConfigJson } from './json.ts';
import { fromEnvironment, strayVariables } from './variables.ts';
import { type ConfigKey, configKeys } from './walk.ts';

export interface ConfigSources {
  /** Path of `cairn.json`. Without it, only environment and flags apply. */
  readonly file?: string | undefined;
  readonly env: Environment;
  /** Values from the command line, which take precedence. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Values for keys that no other source sets. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

type Values = Readonly<Record<string, unknown>>;

export async function readConfig(sources: ConfigSources): Promise<HostConfig> {
  const keys = configKeys();
  const sections = new Set(keys.filter(({ isSection }) => isSection).map(({ path }) => path.join('.')));
  const file = sources.file === undefined ? {} : await readConfigFile(sources.file, keys);
  const given = Object.fromEntries(Object.entries(sources.flags ?? {}).filter(([, value]) => value !== undefined));
  const layers = [sources.defaults ?? {}, file, ...fromEnvironment(sources.env, keys), given];
  const merged = layers.reduce<Values>((below, above) => over(below, longHand(above), sections), {});
  const config = parseConfig(merged, sources.file ?? 'configuration', sources.env);
  const stray = strayVariables(sources.env, keys, JSON.stringify(merged));
  return { ...config, unused: [...config.unused, ...stray] };
}

/** Merges sections key by key. Any other value of the later source replaces the earlier one. */
function over(below: Values, above: Values, sections: ReadonlySet<string>, place = ''): Values {
  const joined: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const old = joined[key];
    const here = `${place}${key}`;
    const both = sections.has(here) && isObject(old) && isObject(value);
    joined[key] = both ? over(old, value, sections, `${here}.`) : value;
  }
  return joined;
}

/** A list of packs is shorthand for `packs.folders`. The expanded form can be merged with the other keys of `packs`. */
const longHand = (values: Values): Values =>
  Array.isArray(values.packs) ? { ...values, packs: { folders: values.packs } } : values;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Relative paths in the file are relative to the file, so that its meaning does not depend on the working directory.
 */
async function readConfigFile(path: string, keys: readonly ConfigKey[]): Promise<Values> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new TerminalError('config_invalid', {
      message: `The configuration ${path} cannot be read: ${isMissing ? 'there is no such file' : thrownText(cause)}.`,
      hint: isMissing
        ? 'Name the file with --config, or write it: "cairn start --help" shows a minimal one. "cairn dev" needs none.'
        : 'Check the path given with --config.',
      cause,
    });
  }
  const config = parseConfigJson(text, path);
  if (!isObject(config)) {
    throw new TerminalError('config_invalid', { message: `${path}: the configuration must be a JSON object.` });
  }
  const base = dirname(resolve(path));
  const paths = [
    ...keys.filter(({ isPath }) => isPath).map((key) => key.path),
    ['masterKey', 'file'],
    ['masterKey', 'previous', 'file'],
  ];
  return paths.reduce((values, place) => resolvedAt(values, place, base), longHand(config));
}

function resolvedAt(values: Values, [key = '', ...below]: readonly string[], base: string): Values {
  const value = values[key];
  if (below.length > 0) return isObject(value) ? { ...values, [key]: resolvedAt(value, below, base) } : values;
  if (Array.isArray(value)) return { ...values, [key]: value.map((entry) => resolvedPath(entry, base)) };
  return value === undefined ? values : { ...values, [key]: resolvedPath(value, base) };
}

/** Leaves non-strings and empty strings for validation to refuse. An empty path would resolve to the folder itself. */
const resolvedPath = (value: unknown, base: string): unknown =>
  typeof value === 'string' && value !== '' ? resolve(base, value) : value;
