/** Configuration keys that this version does not use. They are validated as usual and reported when the host starts. */
import { isDeepStrictEqual } from 'node:util';
import { configShape, type ParsedConfig } from './shape.ts';

/** Remove a key from this list when it takes effect. */
export const unusedYet = ['mcp'] as const;

/** The unused keys that a configuration sets. */
export function unusedKeys(config: ParsedConfig): readonly string[] {
  const nothing = configShape.parse({});
  const unused: string[] = unusedYet.filter((key) => !isDeepStrictEqual(config[key], nothing[key]));
  return config.a2a.peers.length === 0 ? unused : [...unused, 'a2a.peers'];
}
