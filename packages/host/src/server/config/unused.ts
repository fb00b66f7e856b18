/** Configuration keys that this version does not use. They are validated as usual and reported when the host starts. */
import type { ParsedConfig } from './shape.ts';

/** The unused keys that a configuration sets. Remove a key from here when it takes effect. */
export const unusedKeys = ({ a2a }: ParsedConfig): readonly string[] => (a2a.peers.length === 0 ? [] : ['a2a.peers']);
