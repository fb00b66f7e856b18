/** The difference of two texts by lines, as hunks: changed lines with a few unchanged ones around them. */
import { changedRegions, type Region, TokenNumbers } from './changed-regions.ts';
import type { Slices } from './slices.ts';
import { type DiffRoom, shownValue } from './value-changes.ts';

export interface DiffLine {
  readonly op: 'same' | 'added' | 'removed';
  /** Without its end. */
  readonly text: string;
  /** The last line of a text that ends without a line break. */
  readonly noNewline?: true;
}

/** Lines of both texts. `start` counts from 1; it is the line before, if the hunk has no line of the text. */
export interface Hunk {
  readonly a: { readonly start: number; readonly lines: number };
  readonly b: { readonly start: number; readonly lines: number };
  readonly lines: readonly DiffLine[];
}

export interface LineDiff {
  /** Lines of the whole difference, shown or not. */
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  /** Lines of hunks that are not shown. */
  readonly leftOut: number;
}

/** Edits that are searched for. */
export const MAX_LINE_EDITS = 1_000;

/** At most 0.2 s of work, in slices. */
const SEARCH = { edits: MAX_LINE_EDITS, steps: 50_000_000 };

/** Lines of one difference that are shown. */
const MAX_SHOWN = 400;

const CONTEXT = 3;

/** The lines of both texts, each with its end. Null if the texts differ in more lines than are searched for. */
export function* lineDiff(a: readonly string[], b: readonly string[], room: DiffRoom): Slices<LineDiff | null> {
  const regions = yield* regionsOf(a, b);
  if (regions === null) return null;
  const hunks: Hunk[] = [];
  let [added, removed, left, all] = [0, 0, MAX_SHOWN, 0];
  for (const region of regions) {
    removed += region.a[1] - region.a[0];
    added += region.b[1] - region.b[0];
  }
  for (const group of grouped(regions)) {
    const { hunk, length } = hunkOf(group, { a, b }, { room, lines: left });
    all += length;
    left -= hunk.lines.length;
    if (hunk.lines.length > 0) hunks.push(hunk);
    yield;
  }
  return { added, removed, hunks, leftOut: all - (MAX_SHOWN - left) };
}

/** A text that the other run lacks needs no search. */
function* regionsOf(a: readonly string[], b: readonly string[]): Slices<readonly Region[] | null> {
  if (a.length === 0 && b.length === 0) return [];
  if (a.length === 0 || b.length === 0) return [{ a: [0, a.length], b: [0, b.length] }];
  const numbers = new TokenNumbers();
  const left = numbers.of(a);
  yield;
  const right = numbers.of(b);
  yield;
  const { regions, isExact } = yield* changedRegions(left, right, SEARCH);
  return isExact ? regions : null;
}

/** Regions whose context would meet are one hunk. */
function grouped(regions: readonly Region[]): readonly (readonly Region[])[] {
  const groups: Region[][] = [];
  for (const region of regions) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && region.a[0] - last.a[1] <= 2 * CONTEXT) group.push(region);
    else groups.push([region]);
  }
  return groups;
}

interface Texts {
  readonly a: readonly string[];
  readonly b: readonly string[];
}

interface Shown {
  readonly room: DiffRoom;
  readonly lines: number;
}

/** The length of a hunk is that of all its lines, also of those that are not shown. */
function hunkOf(regions: readonly Region[], { a, b }: Texts, { room, lines: most }: Shown) {
  const [first, final] = [regions[0], regions.at(-1)];
  const before = Math.min(CONTEXT, first?.a[0] ?? 0);
  const from = { a: (first?.a[0] ?? 0) - before, b: (first?.b[0] ?? 0) - before };
  const after = Math.min(CONTEXT, a.length - (final?.a[1] ?? 0));
  const to = { a: (final?.a[1] ?? 0) + after, b: (final?.b[1] ?? 0) + after };
  const lines: DiffLine[] = [];
  let length = 0;
  const show = (op: DiffLine['op'], text: readonly string[], [start, end]: readonly [number, number]) => {
    length += end - start;
    const last = Math.min(end, start + most - lines.length);
    for (let i = start; i < last; i += 1) {
      if (room.characters <= 0) return;
      lines.push(lineOf(op, text[i] ?? '', room));
    }
  };
  let at = from.a;
  for (const region of regions) {
    show('same', a, [at, region.a[0]]);
    show('removed', a, region.a);
    show('added', b, region.b);
    at = region.a[1];
  }
  show('same', a, [at, to.a]);
  const place = (name: 'a' | 'b') => {
    const count = to[name] - from[name];
    return { start: count === 0 ? from[name] : from[name] + 1, lines: count };
  };
  return { hunk: { a: place('a'), b: place('b'), lines }, length };
}

function lineOf(op: DiffLine['op'], line: string, room: DiffRoom): DiffLine {
  const isEnded = line.endsWith('\n');
  const text = String(shownValue(isEnded ? line.slice(0, -1) : line, room));
  return isEnded ? { op, text } : { op, text, noNewline: true };
}
