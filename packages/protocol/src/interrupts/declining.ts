/** Questions that a person may decline: they ask for an object, and an answer of null declines. */
import type { JsonObject } from '../json.ts';

/** The same schema, which also takes null. Schemas of anything but objects stay as they are. */
export const declinable = (schema: JsonObject): JsonObject =>
  schema.type === 'object' ? { ...schema, type: ['object', 'null'] } : schema;

export const canDecline = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  'type' in schema &&
  Array.isArray(schema.type) &&
  schema.type.join() === 'object,null';

/** What a form asks for: the object alone. */
export const withoutDecline = <Schema extends Readonly<Record<string, unknown>>>(schema: Schema): Schema =>
  canDecline(schema) ? { ...schema, type: 'object' } : schema;
