/** References to values that do not fit in an event: an artifact holds the value. */
import { isJsonObject, type Json } from './json.ts';

/** The member of a reference that names the artifact. */
export const LARGE_VALUE = 'cairn.artifact';

/** How a text shows a reference: the beginning of the value, and where the rest is. Null for any other value. */
export function largeValueText(value: Json): string | null {
  if (!isJsonObject(value) || !isJsonObject(value[LARGE_VALUE])) return null;
  const { preview, note } = value;
  return [preview, note].filter((text) => typeof text === 'string').join('…\n\n');
}
