/** What JSON would lose or change of a value without a word: a Map, a Promise that nobody awaited, NaN, bytes. */

/** Why JSON cannot say this value; null if it can, its members aside. Undefined is left out, or null. */
export function oddity(value: unknown): string | null {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? null : `${value}, which JSON cannot say`;
    case 'object':
      return value === null ? null : oddObject(value);
    case 'bigint':
    case 'function':
    case 'symbol':
      return `a ${typeof value}, which is not JSON`;
    default:
      return null;
  }
}

function oddObject(value: object): string | null {
  // Its `toJSON` would give a list of all its bytes.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return 'binary data, which is not JSON';
  if (Array.isArray(value) || convertsItself(value)) return null;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Also true of the plain objects of another realm, such as those of a test runner.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return null;
  const name = value.constructor?.name || 'class';
  const hint = name === 'Promise' ? '; await it' : '';
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}, which is not plain JSON${hint}`;
}

export const convertsItself = (value: object): value is { toJSON(): unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';

/** The first part that JSON would lose, with its place; null if there is none. The value must have been serialised: it has no end otherwise. */
export function lostPart(value: unknown): string | null {
  const found = find(value);
  if (found === null) return null;
  const { path, why } = found;
  return `${placeOf(path.reverse())} is ${why}`;
}

interface Found {
  /** The innermost key first. */
  readonly path: (string | number)[];
  readonly why: string;
}

function find(value: unknown): Found | null {
  const why = oddity(value);
  if (why !== null) return { path: [], why };
  if (typeof value !== 'object' || value === null) return null;
  if (convertsItself(value)) return find(value.toJSON());
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const found = find(value[i]);
      if (found !== null) return at(found, i);
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    const found = find((value as Record<string, unknown>)[key]);
    if (found !== null) return at(found, key);
  }
  return null;
}

function at(found: Found, key: string | number): Found {
  found.path.push(key);
  return found;
}

/** Names a part of a value. */
export const placeOf = (path: readonly (string | number)[]): string =>
  path.length === 0 ? 'it' : `its part ${JSON.stringify(path.join('.').slice(0, 80))}`;
