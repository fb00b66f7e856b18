/** Keys that were given and that nothing in this version uses: checked like every other, and named when the host starts. */
import { isDeepStrictEqual } from 'node:util';
import { configShape, type ParsedConfig } from './shape.ts';

/** Who makes one of these work takes it off the list. */
export const unusedYet = ['defaultAgent', 'mcp', 'a2a', 'peers', 'visibility'] as const;

/** The names of such keys in a configuration. */
export function unusedKeys(config: ParsedConfig): readonly string[] {
  const nothing = configShape.parse({});
  return unusedYet.filter((key) => !isDeepStrictEqual(config[key], nothing[key]));
}
