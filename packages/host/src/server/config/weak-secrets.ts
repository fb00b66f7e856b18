/** Finds keys and secrets that can be guessed, by their length and alphabet. */
import { TerminalError } from '@cairn/protocol';
import { keyBits, MIN_KEY_BITS } from '../access/key-strength.ts';
import type { Secrets } from './secrets.ts';

export interface WeakSecret {
  /** The place in the configuration. */
  readonly place: string;
  readonly bits: number;
}

/** A key that is given as a hash is checked at its first request. */
export const weakSecrets = (secrets: Secrets, keys: readonly (string | undefined)[]): readonly WeakSecret[] =>
  [
    ...keys.map((key, i) => ({ place: `keys[${i}]`, text: key })),
    ...[...secrets].map(([name, text]) => ({ place: `secrets.${name}`, text: text.reveal() })),
  ].flatMap(({ place, text }) => {
    const bits = text === undefined ? MIN_KEY_BITS : keyBits(text);
    return bits < MIN_KEY_BITS ? [{ place, bits }] : [];
  });

/** Throws `config_invalid` for the first weak secret of a host that others can reach. */
export function refuseWeak([weak]: readonly WeakSecret[], bind: string, source: string): void {
  if (weak === undefined) return;
  throw new TerminalError('config_invalid', {
    message: `${source}: ${weak.place} can be guessed: by its length and alphabet it has at most ${weak.bits} bits, and bind is ${bind}, which others can reach.`,
    hint: `Use one of at least ${MIN_KEY_BITS} bits, such as "cairn key" prints, or bind to 127.0.0.1.`,
  });
}
