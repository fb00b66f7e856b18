/** Reads the fields of JSON from a host without trusting its shape. */

import type { JsonObject } from '@cairn/protocol';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object; no fields for any other value. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The same for a value that was parsed from JSON: then its fields are JSON, too. */
export const isJson = (value: unknown): value is JsonObject => isFields(value);
