/** A fast hash of JSON by value, to compare what two runs did without keeping it. It is no protection against forgery. */
import { isJsonObject, type Json } from '../../json.ts';
import { changedList } from './changed-copy.ts';

/** Two lanes of 32 bits: equal hashes of different values are as good as impossible by accident. */
export class ContentHash {
  #a = 0xdeadbeef;
  #b = 0x41c6ce57;

  text(text: string): this {
    let [a, b] = [this.#a, this.#b];
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    this.#a = a;
    this.#b = b;
    return this;
  }

  /** The order of keys does not count. One long text is hashed much quicker than thousands of short ones. */
  json(value: Json | undefined): this {
    return this.text(value === undefined ? 'undefined' : JSON.stringify(inKeyOrder(value)));
  }

  /** 53 bits, as an integer. */
  get value(): number {
    let [a, b] = [this.#a, this.#b];
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return 4294967296 * (2097151 & b) + (a >>> 0);
  }
}

export const hashOf = (...values: readonly (Json | undefined)[]): number => {
  const hash = new ContentHash();
  for (const value of values) hash.json(value).text(';');
  return hash.value;
};

/** The value with the keys of its objects in one order; the value itself if they are. */
function inKeyOrder(value: Json): Json {
  if (Array.isArray(value)) return changedList(value, inKeyOrder);
  if (!isJsonObject(value)) return value;
  let entries: [string, Json][] | null = null;
  let before = '';
  let place = 0;
  for (const key in value) {
    const item = value[key] ?? null;
    const ordered = inKeyOrder(item);
    if (entries === null && (key < before || ordered !== item)) entries = Object.entries(value).slice(0, place);
    entries?.push([key, ordered]);
    before = key;
    place += 1;
  }
  return entries === null ? value : Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
