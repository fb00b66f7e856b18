/** What a tool gives, as JSON: copied part by part, so that a result without end is given up where it grows too large. */
import { type Json, thrownText } from '@cairn/protocol';

export type JsonResult = { readonly json: Json } | { readonly problem: string };

/** What nests deeper would be somebody's trouble later. */
const MAX_DEPTH = 100;

/**
 * A plain copy of a value, or why it is none: JSON knows no BigInt, no NaN, no function, no object of a class, and nothing
 * that holds itself. Members that are undefined are left out, and what has a `toJSON` is asked for it.
 */
export function jsonResult(value: unknown, maxBytes: number): JsonResult {
  try {
    return { json: new Copier(maxBytes).copy(value === undefined ? null : value, []) };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message };
    // A getter or a toJSON of the tool's own threw.
    return { problem: `cannot be read: ${thrownText(error)}` };
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
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'boolean':
        this.#count(value ? 4 : 5);
        return value;
      case 'number':
        if (!Number.isFinite(value)) throw new Problem(`${place(path)} is ${value}, which JSON cannot say`);
        this.#count(String(value).length);
        return value;
      case 'object':
        if (value !== null) return this.#composed(value, path);
        this.#count(4);
        return null;
      default:
        throw new Problem(`${place(path)} is a ${typeof value}, which is not JSON`);
    }
  }

  /** Half of a character becomes the sign for what cannot be shown: no text that is sent or stored can hold it. */
  #text(text: string): string {
    const left = this.#maxBytes - this.#bytes;
    const whole = text.length > left ? text : text.toWellFormed();
    this.#count(textBytes(whole, left));
    return whole;
  }

  #composed(value: object, path: Path): Json {
    if (path.length >= MAX_DEPTH) throw new Problem(`${place(path)} is nested more than ${MAX_DEPTH} levels deep`);
    if (this.#open.has(value)) throw new Problem(`${place(path)} holds itself`);
    // Asked for its JSON, a buffer would become a list of all its bytes.
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      throw new Problem(`${place(path)} is binary data, which is not JSON`);
    }
    this.#open.add(value);
    const copy = this.#opened(value, path);
    this.#open.delete(value);
    return copy;
  }

  #opened(value: object, path: Path): Json {
    const { toJSON }: { toJSON?: unknown } = value;
    if (typeof toJSON === 'function') return this.copy((toJSON as () => unknown).call(value), path);
    if (Array.isArray(value)) return this.#list(value, path);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw new Problem(`${place(path)} is a ${value.constructor?.name ?? 'class'}, which is not plain JSON`);
    }
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
      // Set plainly, this one key would change what the copy is instead of what it holds.
      if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true, writable: true });
      else copy[name] = item;
    }
    return copy;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new Problem(`is larger than ${this.#maxBytes / 1000} KB as JSON`);
  }
}

/** Bytes of a well-formed text in JSON; more than `enough` are not counted on. */
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

const place = (path: Path): string =>
  path.length === 0 ? 'it' : `its part ${JSON.stringify(path.join('.').slice(0, 80))}`;
