/** Narrows JSON in tests; throws when a value does not have the expected shape. */
import type { JsonObject } from '@cairn/protocol';

/** The value as an object. */
export function fields(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new Error(`Expected a JSON object, got ${JSON.stringify(value)}.`);
}

/** The value as an object; empty when it is not one. */
export const fieldsOrNone = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The value as a list of objects. */
export function objects(value: unknown): readonly JsonObject[] {
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw new Error(`Expected a list of JSON objects, got ${JSON.stringify(value)}.`);
}

/** A JSON text as an object. */
export const parsedFields = (text: string): JsonObject => fields(JSON.parse(text));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
