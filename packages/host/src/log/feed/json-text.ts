/** Caches the JSON text of short strings that rows repeat: types, node ids, contexts. Making it anew costs a tenth of a row. */

/** Enough for the names of a workflow and the contexts of active runs. */
const KEPT = 4_096;
const LONGEST = 128;

let texts = new Map<string, string>();

/** The same text as `JSON.stringify`. */
export function jsonText(value: string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  if (value.length > LONGEST) return text;
  if (texts.size >= KEPT) texts = new Map();
  texts.set(value, text);
  return text;
}
