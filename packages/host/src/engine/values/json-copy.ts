/** Copies plain JSON without serializing it: that round trip was the most expensive part of a small step. */
import type { Json } from '@cairn/protocol';

/** Deeper or larger values take the slow path through JSON text, where the caller can measure them. */
const MAX_DEPTH = 32;
const MAX_CHARACTERS = 16_384;

/**
 * Returns a copy equal to `JSON.parse(JSON.stringify(value))`. Returns undefined for large values and for values that
 * JSON would change (dates, classes, array holes, NaN and the like).
 */
export function plainJsonCopy(value: unknown): Json | undefined {
  return new Copier().copy(value, 0);
}

class Copier {
  #characters = 0;

  copy(value: unknown, depth: number): Json | undefined {
    switch (typeof value) {
      case 'string':
        return this.#fits(value.length) ? value : undefined;
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) && this.#fits(8) ? value : undefined;
      case 'object':
        if (value === null) return null;
        if (depth === MAX_DEPTH) return undefined;
        return Array.isArray(value) ? this.#list(value, depth) : this.#record(value, depth);
      default:
        return undefined;
    }
  }

  #list(list: readonly unknown[], depth: number): Json | undefined {
    if (Object.getPrototypeOf(list) !== Array.prototype || !this.#fits(list.length)) return undefined;
    const copy: Json[] = [];
    for (let i = 0; i < list.length; i++) {
      const item = this.copy(list[i], depth + 1);
      if (item === undefined) return undefined;
      copy.push(item);
    }
    return 'toJSON' in list ? undefined : copy;
  }

  #record(record: object, depth: number): Json | undefined {
    if (Object.getPrototypeOf(record) !== Object.prototype) return undefined;
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(record)) {
      const item = this.copy((record as Record<string, unknown>)[key], depth + 1);
      if (item === undefined || key === '__proto__' || !this.#fits(key.length)) return undefined;
      copy[key] = item;
    }
    return 'toJSON' in record ? undefined : copy;
  }

  #fits(characters: number): boolean {
    this.#characters += characters;
    return this.#characters <= MAX_CHARACTERS;
  }
}
