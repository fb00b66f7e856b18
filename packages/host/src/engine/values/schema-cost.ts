/** Counts what a schema stands for: a few lines of references can expand to billions of parts. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { targetOf } from './json-schema/compile.ts';

/** The maximum number of parts of a schema with every reference expanded. */
const MAX_PARTS = 5_000;

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
    if (typeof reference === 'string') walk(targetOf(schema, reference), false);
  };
  walk(schema, true);
  return parts;
}
