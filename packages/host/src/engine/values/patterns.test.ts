import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { CostExceeded, costBudget } from './cost-budget.ts';
import { patternCost } from './pattern-cost.ts';
import { compilePattern } from './patterns.ts';

function costOf(source: string, text: string): number {
  const budget = costBudget(Number.MAX_SAFE_INTEGER);
  compilePattern(source).test(text, budget);
  return budget.limit - budget.left;
}

/** Every further character of such a text needs a state that RE2 has not computed yet. */
const growing = (length: number): string => {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 2 === 0 ? 'a' : 'b';
  }).join('');
};

describe('patterns', () => {
  test.each<[string, string, boolean]>([
    ['^[a-z]+@[a-z]+\\.com$', 'a@b.com', true],
    ['^[a-z]+$', 'aB', false],
    ['b', 'abc', true],
    ['(?i)^É$', 'é', true],
  ])('%s occurs in %s: %s', (source, text, expected) => {
    expect(compilePattern(source).test(text)).toBe(expected);
  });

  test.each<[string, RegExp]>([
    ['[ab]{0,1000}'.repeat(70), /instructions/],
    ['(?:(?:a{30}){30}b){5}', /instructions/],
    [`(?i)${'[a-\\x{1e942}]'.repeat(3)}`, /units to compile/],
    ['\\pL{0,900}', /units to compile/],
    ['[^\\pN]'.repeat(90), /units to compile/],
    ['a'.repeat(1_001), /1001 characters/],
    ['(', /missing/],
    ['(?=a)', /invalid/],
  ])('%s is refused', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(reason);
  });

  test('charge for compiling before they compile', () => {
    expect(() => compilePattern('[a-z]{0,900}', '', costBudget(100))).toThrow(CostExceeded);
  });

  test('charge for the length of the text', () => {
    const source = '^[a-z ]+$';
    expect(costOf(source, 'a'.repeat(20_000))).toBeGreaterThan(1.9 * costOf(source, 'a'.repeat(10_000)));
    expect(costOf(source, 'a'.repeat(20_000))).toBeLessThan(20_000);
  });

  test('charge for each state that the text makes RE2 compute', () => {
    const [small, large] = ['a[ab]{20}[cd]', 'a[ab]{200}[cd]'];
    expect(costOf(large, growing(100))).toBeGreaterThan(100 * 200);
    expect(costOf(large, growing(100))).toBeGreaterThan(5 * costOf(small, growing(100)));
    expect(costOf(large, growing(4_000))).toBeGreaterThan(4_000 * 200);
  });

  test('stop when the budget is spent, and match again with the next one', () => {
    const pattern = compilePattern('a[ab]{200}[cd]');
    const text = growing(20_000);
    expect(() => pattern.test(text, costBudget(50_000))).toThrow(CostExceeded);
    expect(() => pattern.test(text)).toThrow(/limit of 250000/);
    expect(pattern.test(`${'a'.repeat(201)}c`)).toBe(true);
  });

  test('never compile to more instructions than estimated', () => {
    const atom = fc.constantFrom(
      'a',
      '.',
      '[a-z]',
      '\\d',
      '\\pL',
      '(?i:k)',
      '\\Qa+\\E',
      '\\x{61}',
      '[^\\]a-]',
      '^',
      '\\b',
      '(?:)',
    );
    const suffix = fc.constantFrom('', '', '*', '+?', '?', '{3}', '{2,}', '{0,7}', '{0}', '{1,2}?');
    const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
      pattern: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      part: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.tuple(atom, suffix).map((parts) => parts.join('')),
        fc
          .tuple(fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }), suffix)
          .map(([either, times]) => `(${either.join('|')})${times}`),
      ),
    }));
    fc.assert(
      fc.property(pattern, (source) => {
        let cost: number;
        try {
          cost = patternCost(source, false);
        } catch {
          return;
        }
        expect(cost).toBeGreaterThanOrEqual(20 * RE2JS.compile(source).programSize());
      }),
      { numRuns: 500 },
    );
  });
});
