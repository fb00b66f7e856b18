/** Embeds one JSON Schema in another and rewrites its root-relative references. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** `place` is the target position as a reference, such as `#/properties/decision`. */
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
