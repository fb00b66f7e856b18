/** Reads the fields of JSON from a host without trusting its shape. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object; no fields for any other value. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
