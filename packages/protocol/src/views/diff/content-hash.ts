/** A fast hash of JSON by value, to compare what two runs did without keeping it. It is no protection against forgery. */
import { isJsonObject, type Json } from '../../json.ts';

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

  /** The order of keys does not count. */
  json(value: Json | undefined): this {
    if (Array.isArray(value)) {
      this.text('[');
      for (const item of value) this.json(item).text(',');
      return this.text(']');
    }
    if (!isJsonObject(value)) return this.text(`${typeof value}:${String(value)}`);
    this.text('{');
    for (const key of Object.keys(value).sort()) this.text(JSON.stringify(key)).text(':').json(value[key]).text(',');
    return this.text('}');
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
