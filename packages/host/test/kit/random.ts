/** Seeded random numbers, so that a test can repeat its draws. */

export interface Random {
  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number;
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Picks a key in proportion to its weight; null when every weight is 0. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key | null;
  /** Returns an independent stream, so that extra draws in one part do not shift the draws of another. */
  fork(label: string): Random;
}

/** The same seed gives the same draws on every machine: only 32-bit integer arithmetic is used. */
export function createRandom(seed: number | string): Random {
  const next = xorshift128(typeof seed === 'number' ? mix(seed) : hashText(seed));
  const below = (limit: number): number => Math.floor((next() / 0x1_0000_0000) * limit);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    // Draws for 0 and 1 as well, so that disabling a fault does not shift later draws.
    chance: (probability) => next() / 0x1_0000_0000 < probability,
    pick: <Item>(items: readonly Item[]): Item => {
      if (items.length === 0) throw new Error('There is nothing to pick from.');
      // An item may itself be null or undefined.
      return items[below(items.length)] as Item;
    },
    weighted: (weights) => pickWeighted(weights, next() / 0x1_0000_0000),
    fork: (label) => createRandom(`${label}:${next()}`),
  };
}

function pickWeighted<Key extends string>(weights: Readonly<Record<Key, number>>, point: number): Key | null {
  let total = 0;
  for (const key in weights) total += weights[key];
  let left = point * total;
  let last: Key | null = null;
  for (const key in weights) {
    const weight = weights[key];
    if (weight <= 0) continue;
    last = key;
    left -= weight;
    if (left < 0) return key;
  }
  return last;
}

/** Marsaglia's xorshift with 128 bits of state: fast, with a period long enough for any test. */
function xorshift128(seed: number): () => number {
  let x = mix(seed + 1);
  let y = mix(seed + 2);
  let z = mix(seed + 3);
  let w = mix(seed + 4) | 1;
  return () => {
    const t = x ^ (x << 11);
    x = y;
    y = z;
    z = w;
    w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0;
    return w;
  };
}

/** Spreads neighbouring seeds; without it, seeds 1 and 2 would begin with similar draws. */
function mix(value: number): number {
  let h = (value ^ 0x9e37_79b9) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function hashText(text: string): number {
  let h = 0x811c_9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x0100_0193);
  return mix(h >>> 0);
}
