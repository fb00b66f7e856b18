import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NearNames, nearest } from './nearest.ts';

/** Every cell of the textbook table. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}

const word = fc.string({
  unit: fc.integer({ min: 0, max: 3 }).map((i) => 'abcd'[i] ?? ''),
  minLength: 1,
  maxLength: 14,
});

test('the first of the nearest names is found', () => {
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 20 }), fc.integer({ min: 1, max: 3 }), (wanted, names, atLeast) => {
      const most = Math.max(atLeast, Math.floor(wanted.length / 3));
      const distances = names.map((name) => edits(wanted, name));
      const least = Math.min(...distances);
      expect(nearest(wanted, names, atLeast)).toBe(least <= most ? names[distances.indexOf(least)] : null);
    }),
  );
});

describe('the cost', () => {
  const long = (i: number) => `${i}`.padEnd(60, 'abcdefghij');

  /** Counts what is looked at. */
  function* counted(seen: { names: number }) {
    for (; ; seen.names += 1) yield long(seen.names);
  }

  test('of one search is bounded, however many names there are', () => {
    const seen = { names: 0 };
    nearest('z'.repeat(60), counted(seen));
    expect(seen.names).toBeGreaterThan(10);
    expect(seen.names).toBeLessThan(1_000);
  });

  test('is shared by the searches of one check', () => {
    const near = new NearNames(100_000);
    const seen = { names: 0 };
    for (let i = 0; i < 10_000; i += 1) near.nearest('z'.repeat(60), counted(seen));
    expect(seen.names).toBeLessThan(1_000);
    expect(near.nearest('abd', ['abc'])).toBe(null);
  });
});
