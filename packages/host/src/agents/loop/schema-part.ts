/** A JSON Schema that becomes a part of another one: its references, which start at its own root, are moved along. */
import type { Json, JsonObject } from '@cairn/protocol';

/** `place` is where it will stand, as a reference: `#/properties/decision`. */
export function schemaAsPart(schema: JsonObject, place: string): JsonObject {
  const { $id: _id, $schema: _schema, ...rest } = schema;
  return moved(rest, place) as JsonObject;
}

function moved(part: Json, place: string): Json {
  if (Array.isArray(part)) return part.map((item) => moved(item as Json, place));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? place + value.slice(1)
        : moved(value as Json, place),
    ]),
  );
}
