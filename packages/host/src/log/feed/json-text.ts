/** JSON texts of the short strings that rows repeat: types, node ids, contexts. To ask for them anew costs a tenth of a row. */

/** About one workflow's names and the contexts of the runs that are under way. */
const KEPT = 4_096;
const LONGEST = 128;

let texts = new Map<string, string>();

/** The same text as `JSON.stringify` gives. */
export function jsonText(value: string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  if (value.length > LONGEST) return text;
  if (texts.size >= KEPT) texts = new Map();
  texts.set(value, text);
  return text;
}
