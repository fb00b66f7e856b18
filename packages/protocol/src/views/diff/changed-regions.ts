/**
 * The shortest way from one list of tokens to another, by Myers' greedy algorithm. Its cost grows with the number of
 * edits, so the search ends at a bound, and yields to other work on its way.
 */
import type { Slices } from './slices.ts';

/** Tokens of `a` that tokens of `b` replace. One of the two ranges may be empty. What lies between regions is equal. */
export interface Region {
  readonly a: Range;
  readonly b: Range;
}

/** From the first to before the last. */
export type Range = readonly [from: number, to: number];

/** Gives equal tokens equal numbers, so that comparing two of them costs the same however long they are. */
export class TokenNumbers {
  readonly #numbers = new Map<string, number>();

  of(tokens: readonly string[]): Int32Array {
    return Int32Array.from(tokens, (token) => {
      const known = this.#numbers.get(token);
      if (known !== undefined) return known;
      this.#numbers.set(token, this.#numbers.size);
      return this.#numbers.size - 1;
    });
  }
}

/** Steps between two yields: less than a millisecond. */
const SLICE = 100_000;

/** What the search may take. */
export interface SearchBounds {
  readonly edits: number;
  /** Compared tokens: some nanoseconds each. */
  readonly steps: number;
}

export interface Regions {
  readonly regions: readonly Region[];
  /** False if the search ended at its bound: then one region is all between the common beginning and end. */
  readonly isExact: boolean;
}

export function* changedRegions(a: Int32Array, b: Int32Array, bounds: SearchBounds): Slices<Regions> {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const traces = yield* searched(a.subarray(start, a.length - end), b.subarray(start, b.length - end), bounds);
  if (traces === null) {
    return { regions: [{ a: [start, a.length - end], b: [start, b.length - end] }], isExact: false };
  }
  const regions = regionsOf(traces, { start, x: a.length - start - end, y: b.length - start - end });
  return { regions, isExact: true };
}

/** For each count of edits, the furthest place in `a` on each diagonal from `-count` to `count`. */
type Traces = readonly Int32Array[];

function* searched(a: Int32Array, b: Int32Array, bounds: SearchBounds): Slices<Traces | null> {
  const traces: Int32Array[] = [];
  let before = new Int32Array();
  let [steps, stop] = [0, SLICE];
  for (let count = 0; count <= Math.min(a.length + b.length, bounds.edits); count += 1) {
    const furthest = new Int32Array(2 * count + 1);
    traces.push(furthest);
    for (let k = -count; k <= count; k += 2) {
      let x = count === 0 ? 0 : entryOf(before, count, k).x;
      const from = x;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[k + count] = x;
      if (x >= a.length && x - k >= b.length) return traces;
      steps += 1 + x - from;
      if (steps < stop) continue;
      if (steps > bounds.steps) return null;
      stop = steps + SLICE;
      yield;
    }
    before = furthest;
  }
  return null;
}

/** How the search enters a diagonal with its next edit: downwards, which adds a token, or sideways, which removes one. */
function entryOf(before: Int32Array, count: number, k: number): { readonly x: number; readonly isDown: boolean } {
  const [above, beside] = [at(before, count - 1, k + 1), at(before, count - 1, k - 1)];
  const isDown = k === -count || (k !== count && beside < above);
  return { x: isDown ? above : beside + 1, isDown };
}

const at = (furthest: Int32Array, count: number, k: number): number => furthest[k + count] ?? 0;

/** Walks the found way from its end, and joins edits with nothing between them. */
function regionsOf(traces: Traces, end: { start: number; x: number; y: number }): readonly Region[] {
  const regions: Region[] = [];
  const { start } = end;
  let [x, y] = [end.x, end.y];
  for (let count = traces.length - 1; count > 0; count -= 1) {
    const k = x - y;
    const { x: entered, isDown } = entryOf(traces[count - 1] ?? new Int32Array(), count, k);
    const [toX, toY] = [start + entered, start + entered - k];
    const region: Region = isDown ? { a: [toX, toX], b: [toY - 1, toY] } : { a: [toX - 1, toX], b: [toY, toY] };
    const last = regions.at(-1);
    if (last !== undefined && last.a[0] === toX && last.b[0] === toY) {
      regions[regions.length - 1] = { a: [region.a[0], last.a[1]], b: [region.b[0], last.b[1]] };
    } else regions.push(region);
    [x, y] = [region.a[0] - start, region.b[0] - start];
  }
  return regions.reverse();
}
