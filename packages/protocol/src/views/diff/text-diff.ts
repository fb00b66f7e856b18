/** The difference of two texts: by lines, or by words if both are one line. The work is bounded, whatever the texts are. */

export interface TextPart {
  readonly op: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Characters of each text that are compared. */
export const MAX_TEXT = 65_536;

/** Edits that are searched for. Texts with more are shown as replaced, between their common beginning and end. */
const MAX_EDITS = 400;

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
  return shortened(joined(edits(left, right)), byLine);
}

const tokensOf = (text: string, byLine: boolean): string[] =>
  byLine ? (text.match(/[^\n]*\n|[^\n]+$/g) ?? []) : (text.match(/\s+|[^\s]+/g) ?? []);

function edits(a: readonly string[], b: readonly string[]): TextPart[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = [a.slice(start, a.length - end), b.slice(start, b.length - end)] as const;
  return [
    ...a.slice(0, start).map(same),
    ...(shortest(...middle) ?? [...middle[0].map(removed), ...middle[1].map(added)]),
    ...a.slice(a.length - end).map(same),
  ];
}

const same = (text: string): TextPart => ({ op: 'same', text });
const added = (text: string): TextPart => ({ op: 'added', text });
const removed = (text: string): TextPart => ({ op: 'removed', text });

/** The shortest edit script by Myers' greedy algorithm; null if it needs more than the bound. */
function shortest(a: readonly string[], b: readonly string[]): TextPart[] | null {
  const most = Math.min(a.length + b.length, MAX_EDITS);
  /** For each count of edits, the furthest x on each diagonal, which is stored at an offset. */
  const traces: Int32Array[] = [];
  const furthest = new Int32Array(2 * most + 3);
  for (let count = 0; count <= most; count += 1) {
    traces.push(furthest.slice());
    for (let k = -count; k <= count; k += 2) {
      const down = k === -count || (k !== count && at(furthest, most, k - 1) < at(furthest, most, k + 1));
      let x = down ? at(furthest, most, k + 1) : at(furthest, most, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[most + 1 + k] = x;
      if (x >= a.length && x - k >= b.length) return walked(a, b, { traces, most });
    }
  }
  return null;
}

const at = (furthest: Int32Array, most: number, k: number): number => furthest[most + 1 + k] ?? 0;

/** Walks the found script from its end. */
function walked(
  a: readonly string[],
  b: readonly string[],
  { traces, most }: { readonly traces: readonly Int32Array[]; readonly most: number },
): TextPart[] {
  const parts: TextPart[] = [];
  let [x, y] = [a.length, b.length];
  for (let count = traces.length - 1; count > 0; count -= 1) {
    const before = traces[count] ?? new Int32Array();
    const k = x - y;
    const down = k === -count || (k !== count && at(before, most, k - 1) < at(before, most, k + 1));
    const fromX = at(before, most, down ? k + 1 : k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      x -= 1;
      y -= 1;
      parts.push(same(a[x] ?? ''));
    }
    parts.push(down ? added(b[y - 1] ?? '') : removed(a[x - 1] ?? ''));
    [x, y] = [fromX, fromY];
  }
  while (x > 0) {
    x -= 1;
    parts.push(same(a[x] ?? ''));
  }
  return parts.reverse();
}

/** Neighbours of one kind are one part. */
function joined(parts: readonly TextPart[]): TextPart[] {
  const joinedParts: { op: TextPart['op']; texts: string[] }[] = [];
  for (const { op, text } of parts) {
    const last = joinedParts.at(-1);
    if (last?.op === op) last.texts.push(text);
    else joinedParts.push({ op, texts: [text] });
  }
  return joinedParts.map(({ op, texts }) => ({ op, text: texts.join('') }));
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
    return same([...tokens.slice(0, head), gap, ...(tail === 0 ? [] : tokens.slice(-tail))].join(''));
  });
}
