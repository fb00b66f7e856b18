/** The difference of two texts: by lines, or by words if both are one line. The work is bounded, whatever the texts are. */
import { changedRegions, TokenNumbers } from './changed-regions.ts';
import { allOf } from './slices.ts';

export interface TextPart {
  readonly op: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Characters of each text that are compared. */
export const MAX_TEXT = 65_536;

/** What the search for edits may take. Texts that need more are shown as replaced, between their common beginning and end. */
const SEARCH = { edits: 400, steps: 2_000_000 };

/** Lines or words of an unchanged part that are shown beside a change. */
const CONTEXT = 3;

/** Returns the parts in order, with long unchanged parts shortened; null if the texts are equal. */
export function textDiff(a: string, b: string): readonly TextPart[] | null {
  if (a === b) return null;
  const byLine = a.includes('\n') || b.includes('\n');
  const [left, right] = [a.slice(0, MAX_TEXT), b.slice(0, MAX_TEXT)].map((text) => tokensOf(text, byLine)) as [
    string[],
    string[],
  ];
  return shortened(partsOf(left, right), byLine);
}

/** Each line with its end. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const tokensOf = (text: string, byLine: boolean): string[] =>
  byLine ? linesOf(text) : (text.match(/\s+|[^\s]+/g) ?? []);

function partsOf(a: readonly string[], b: readonly string[]): readonly TextPart[] {
  const numbers = new TokenNumbers();
  const parts: TextPart[] = [];
  const push = (op: TextPart['op'], tokens: readonly string[]) => {
    if (tokens.length > 0) parts.push({ op, text: tokens.join('') });
  };
  let at = 0;
  const { regions } = allOf(changedRegions(numbers.of(a), numbers.of(b), SEARCH));
  for (const region of regions) {
    push('same', a.slice(at, region.a[0]));
    push('removed', a.slice(...region.a));
    push('added', b.slice(...region.b));
    at = region.a[1];
  }
  push('same', a.slice(at));
  return parts;
}

/** Keeps the ends of unchanged parts that lie beside a change. */
function shortened(parts: readonly TextPart[], byLine: boolean): readonly TextPart[] {
  return parts.map((part, i) => {
    if (part.op !== 'same') return part;
    const tokens = tokensOf(part.text, byLine);
    const context = byLine ? CONTEXT : CONTEXT * 8;
    const head = i === 0 ? 0 : context;
    const tail = i === parts.length - 1 ? 0 : context;
    if (tokens.length <= head + tail + 1) return part;
    const gap = byLine ? `… ${tokens.length - head - tail} unchanged lines\n` : ' … ';
    const text = [...tokens.slice(0, head), gap, ...(tail === 0 ? [] : tokens.slice(-tail))].join('');
    return { op: 'same', text };
  });
}
