/** Maps every configuration key to an environment variable, with one rule for names and values. */
import { delimiter } from 'node:path';
import { nearest } from '../../nearest.ts';
import type { Environment } from './fields.ts';
import { parseConfigJson } from './json.ts';
import type { ConfigKey, Written } from './walk.ts';

type Values = Readonly<Record<string, unknown>>;

/** `limits.maxRunDurationMs` becomes `CAIRN_LIMITS_MAX_RUN_DURATION_MS`. */
export const variableOf = (path: readonly string[]): string =>
  `CAIRN_${path.map((key) => key.replace(/[a-z](?=[A-Z])/g, '$&_').toUpperCase()).join('_')}`;

/** The values from the environment. Sections come before single keys, which override them. */
export function fromEnvironment(env: Environment, keys: readonly ConfigKey[]): readonly Values[] {
  const found = keys.flatMap(({ path, isSection, written }) => {
    const variable = variableOf(path);
    const text = env[variable];
    if (text === undefined || text === '' || path[0] === 'masterKey') return [];
    return [nested(path, isSection ? parseConfigJson(text, variable) : read[written](text, variable))];
  });
  return [...found, ...masterKeyOf(env)];
}

/** Parses the text of a variable. Text that does not fit stays text, so that validation refuses it by its key. */
const read: Readonly<Record<Written, (text: string, variable: string) => unknown>> = {
  text: (text) => text,
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  switch: (text) => ({ true: true, '1': true, false: false, '0': false })[text] ?? text,
  list: (text) => entries(text, ','),
  paths: (text) => entries(text, delimiter),
  json: parseConfigJson,
};

const entries = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const nested = (path: readonly string[], value: unknown): Values =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Values;

/** The variables of the master key contain the key itself, or with `_FILE` the path of its file. */
function masterKeyOf(env: Environment): readonly Values[] {
  const current = keySource(env, 'CAIRN_MASTER_KEY');
  if (current === null) return [];
  const previous = keySource(env, 'CAIRN_MASTER_KEY_PREVIOUS');
  return [{ masterKey: { ...current, ...(previous === null ? {} : { previous }) } }];
}

function keySource(env: Environment, variable: string): Values | null {
  if ((env[variable] ?? '') !== '') return { env: variable };
  const file = env[`${variable}_FILE`] ?? '';
  return file === '' ? null : { file };
}

/** Variables of the command line client, which locate a host. */
const OTHERS = ['CAIRN_URL', 'CAIRN_KEY'];

/**
 * Variables that look like a misspelt name, each with the correct one. Variables that the configuration names are
 * excluded.
 */
export function strayVariables(env: Environment, keys: readonly ConfigKey[], named: string): readonly string[] {
  const masterKeys = ['', '_FILE', '_PREVIOUS', '_PREVIOUS_FILE'].map((end) => `CAIRN_MASTER_KEY${end}`);
  const known = new Set([...keys.map(({ path }) => variableOf(path)), ...masterKeys, ...OTHERS]);
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith('CAIRN_') || known.has(variable) || named.includes(JSON.stringify(variable))) return [];
    const end = (name: string) => name.slice('CAIRN_'.length);
    const close = nearest(end(variable), [...known].map(end));
    return close === null ? [] : [`${variable} (did you mean CAIRN_${close}?)`];
  });
}
