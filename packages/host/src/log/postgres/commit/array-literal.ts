/** Arrays as parameters: the text that Postgres reads as one. The driver sends every parameter as text. */
import { encodeText } from '../text-codec.ts';

/** What a JSON string escapes in another way than an element does. */
const OTHERWISE_ESCAPED = /[^\u0020-\ud7ff\ue000-\uffff]/;

type Scalar = number | boolean | null;

export const scalars = (values: readonly Scalar[]): string =>
  literal(values.map((value) => (value === null ? 'NULL' : String(value))));

export const texts = (values: readonly (string | null)[]): string => literal(values.map(element));

/** The braces are joined with the elements: put around the joined text, they would make V8 copy it once more when it is sent. */
function literal(elements: string[]): string {
  if (elements.length === 0) return '{}';
  elements[0] = `{${elements[0]}`;
  elements[elements.length - 1] += '}';
  return elements.join();
}

function element(value: string | null): string {
  if (value === null) return 'NULL';
  const text = encodeText(value);
  // Elements escape quotes and backslashes alone, and JSON does it faster than a replacement.
  if (!OTHERWISE_ESCAPED.test(text)) return JSON.stringify(text);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
