/**
 * Text as Postgres can keep it: any character but U+0000. That one becomes U+0001 and a digit, and so does U+0001 itself,
 * so that every text comes back as it was. Payloads are JSON, which escapes both: they stay as they are.
 */

/** An escape in JSON text, taken as a whole: after a backslash that is itself escaped, nothing is. */
const JSON_ESCAPE = /\\(u0000|u0001|.)/g;

export const encodeText = (text: string): string =>
  text.includes('\u0000') || text.includes('\u0001')
    ? text.replaceAll('\u0001', '\u00011').replaceAll('\u0000', '\u00010')
    : text;

export const decodeText = (text: string): string =>
  text.includes('\u0001') ? text.replaceAll('\u00010', '\u0000').replaceAll('\u00011', '\u0001') : text;

/** JSON for a parameter whose strings become columns. */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u000')) return text;
  return text.replaceAll(JSON_ESCAPE, (found, kind) =>
    kind === 'u0000' ? '\\u00010' : kind === 'u0001' ? '\\u00011' : found,
  );
}

/** JSON that the database made of columns. */
export const decodeJson = <Value>(text: string): Value =>
  text.includes('\\u0001')
    ? JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? decodeText(value) : value))
    : JSON.parse(text);
