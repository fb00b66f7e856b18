/** Estimates the cost of a schema check in advance: a few lines of references can expand to billions of steps. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** The maximum number of parts of a schema with every reference expanded. */
const MAX_PARTS = 5_000;

/** The maximum of schema parts times value parts: about a second. */
const MAX_STEPS = 20_000_000;

/**
 * Counts the parts of a schema with every reference expanded. Throws an Error if the schema has too many parts, refers
 * to itself, or uses unsupported references, because its cost is then unbounded or unknown.
 */
export function partsOf(schema: Json): number {
  const open = new Set<Json>();
  let parts = 0;
  const walk = (part: Json | undefined, isRoot: boolean): void => {
    if (typeof part !== 'object' || part === null) return;
    parts += 1;
    if (parts > MAX_PARTS) throw new RangeError(`with its references written out it has more than ${MAX_PARTS} parts`);
    if (open.has(part)) throw new RangeError('it refers to itself');
    open.add(part);
    if (isJsonObject(part)) follow(part, isRoot);
    for (const member of Object.values(part)) walk(member, false);
    open.delete(part);
  };
  const follow = (part: JsonObject, isRoot: boolean): void => {
    const { $ref: reference, $dynamicRef: dynamic, $id: id } = part;
    if (typeof dynamic === 'string') throw new RangeError('$dynamicRef is not supported');
    if (typeof id === 'string' && !isRoot) throw new RangeError('only the schema as a whole may have an $id');
    if (typeof reference === 'string') walk(target(schema, reference), false);
  };
  walk(schema, true);
  return parts;
}

/** Resolves a reference. Returns undefined for a missing target, which the schema compiler reports. */
function target(schema: Json, reference: string): Json | undefined {
  if (!/^#(\/|$)/.test(reference)) {
    throw new RangeError(
      `the reference ${JSON.stringify(reference)} is not a path in the schema, such as #/$defs/name`,
    );
  }
  let found: Json | undefined = schema;
  for (const step of reference.split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = isJsonObject(found) ? found[name] : found[Number(name)];
  }
  return found;
}

/** Whether a value is too large to check against a schema with this many parts. */
export function isTooMuch(value: Json, parts: number): boolean {
  let left = Math.floor(MAX_STEPS / parts);
  const fits = (part: Json): boolean => {
    left -= 1;
    if (left < 0) return false;
    return typeof part !== 'object' || part === null || Object.values(part).every(fits);
  };
  return !fits(value);
}
