/** Copies a tool's result to plain JSON part by part, so that an endless result stops at the size limit. */
import { type Json, thrownText } from '@cairn/protocol';
import { convertsItself, oddity, placeOf } from '../../engine/values/lost-part.ts';

/** Largest result of a tool as JSON. Its event holds the result under two names and has a limit of 512 KiB. */
export const MAX_RESULT_BYTES = 240_000;

export type JsonResult = { readonly json: Json } | { readonly problem: string };

/** Bounds nesting: later readers of the value may recurse. */
const MAX_DEPTH = 100;

/**
 * Returns a plain copy of a value, or the reason it is not JSON: a BigInt, NaN, a function, a class instance or a
 * cycle. Undefined members are left out. Objects with a `toJSON` method are converted by it.
 */
export function jsonResult(value: unknown, maxBytes: number): JsonResult {
  try {
    return { json: new Copier(maxBytes).copy(value === undefined ? null : value, []) };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message };
    // A getter or `toJSON` of the tool threw.
    return { problem: `it cannot be read: ${thrownText(error)}` };
  }
}

class Problem extends Error {}

type Path = readonly (string | number)[];

class Copier {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #open = new Set<object>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  copy(value: unknown, path: Path): Json {
    const odd = oddity(value);
    if (odd !== null) throw new Problem(`${placeOf(path)} is ${odd}`);
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'boolean':
        this.#count(value ? 4 : 5);
        return value;
      case 'number':
        this.#count(String(value).length);
        return value;
      case 'object':
        if (value !== null) return this.#composed(value, path);
    }
    this.#count(4);
    return null;
  }

  /** Replaces lone surrogates with U+FFFD: UTF-8 text cannot hold them. */
  #text(text: string): string {
    const left = this.#maxBytes - this.#bytes;
    const whole = text.length > left ? text : text.toWellFormed();
    this.#count(textBytes(whole, left));
    return whole;
  }

  #composed(value: object, path: Path): Json {
    if (path.length >= MAX_DEPTH) throw new Problem(`${placeOf(path)} is nested more than ${MAX_DEPTH} levels deep`);
    if (this.#open.has(value)) throw new Problem(`${placeOf(path)} holds itself`);
    this.#open.add(value);
    const copy = this.#opened(value, path);
    this.#open.delete(value);
    return copy;
  }

  #opened(value: object, path: Path): Json {
    if (convertsItself(value)) return this.copy(value.toJSON(), path);
    if (Array.isArray(value)) return this.#list(value, path);
    return this.#record(value as Readonly<Record<string, unknown>>, path);
  }

  #list(list: readonly unknown[], path: Path): Json {
    const copy: Json[] = [];
    this.#count(2);
    for (let i = 0; i < list.length; i++) {
      this.#count(i === 0 ? 0 : 1);
      const item = list[i];
      copy.push(this.copy(item === undefined ? null : item, [...path, i]));
    }
    return copy;
  }

  #record(record: Readonly<Record<string, unknown>>, path: Path): Json {
    const copy: Record<string, Json> = {};
    this.#count(2);
    let isFirst = true;
    for (const key of Object.keys(record)) {
      const member = record[key];
      if (member === undefined) continue;
      const name = this.#text(key);
      this.#count(isFirst ? 1 : 2);
      isFirst = false;
      const item = this.copy(member, [...path, key]);
      // A plain assignment to `__proto__` would set the prototype of the copy instead of a member.
      if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true, writable: true });
      else copy[name] = item;
    }
    return copy;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new Problem(`it is larger than ${this.#maxBytes / 1000} KB as JSON`);
  }
}

/** Size in bytes of a well-formed text as JSON. Counting stops above `enough`. */
function textBytes(text: string, enough: number): number {
  let bytes = 2;
  if (text.length > enough) return text.length + 2;
  for (let i = 0; i < text.length && bytes <= enough; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) bytes += '\b\t\n\f\r'.includes(text.charAt(i)) ? 2 : 6;
    else if (code === 0x22 || code === 0x5c) bytes += 2;
    else if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else {
      bytes += 4;
      i += 1;
    }
  }
  return bytes;
}
