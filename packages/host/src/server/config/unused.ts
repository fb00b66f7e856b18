/** Keys that were given and that nothing in this version uses: checked like every other, and named when the host starts. */
import { isDeepStrictEqual } from 'node:util';
import { secretsNamedBy } from './secrets.ts';
import { configShape, type ParsedConfig } from './shape.ts';

/** Who makes one of these work takes it off the list. */
export const unusedYet = ['models', 'defaultAgent', 'mcp', 'a2a', 'peers', 'visibility'] as const;

/** The names of such keys in a configuration, and of secrets that no key in use refers to. */
export function unusedKeys(config: ParsedConfig): readonly string[] {
  const nothing = configShape.parse({});
  const given = unusedYet.filter((key) => !isDeepStrictEqual(config[key], nothing[key]));
  const named = new Set(secretsNamedBy(config).flatMap(({ name, key }) => (isUnused(key) ? [] : [name])));
  const secrets = Object.keys(config.secrets).filter((name) => !named.has(name));
  return [...given, ...secrets.map((name) => `secrets.${name}`)];
}

const isUnused = (key: keyof ParsedConfig): boolean => unusedYet.some((unused) => unused === key);
