/** A JSON Schema that becomes a part of another one: its references, which start at its own root, are moved along. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** `place` is where it will stand, as a reference: `#/properties/decision`. */
export function schemaAsPart(schema: JsonObject, place: string): JsonObject {
  const { $id: _id, $schema: _schema, ...rest } = schema;
  return movedObject(rest, place);
}

function moved(part: Json, place: string): Json {
  if (isJsonObject(part)) return movedObject(part, place);
  return isList(part) ? part.map((item) => moved(item, place)) : part;
}

const isList = (part: Json): part is readonly Json[] => Array.isArray(part);

const movedObject = (part: JsonObject, place: string): JsonObject =>
  Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? place + value.slice(1)
        : moved(value, place),
    ]),
  );
