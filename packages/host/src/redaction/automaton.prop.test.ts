import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Automaton } from './automaton.ts';

/** Few letters, so that beginnings, overlaps and blocks of the skip table meet all the time. */
const text = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '\ud83d'), minLength, maxLength });

test('a text holds a pattern exactly when a search for each of them finds one', () => {
  const patterns = fc.array(text(9, 1), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(patterns, text(60), (texts, searched) => {
      const automaton = new Automaton(texts);
      expect(automaton.isIn(searched)).toBe(texts.some((pattern) => searched.includes(pattern)));
    }),
    { numRuns: 5_000 },
  );
});

test('a pattern is found wherever it lies in a text of other letters', () => {
  const automaton = new Automaton(['sk-0123456789']);
  for (let before = 0; before < 40; before++) {
    for (let after = 0; after < 16; after++) {
      const searched = `${'x'.repeat(before)}sk-0123456789${'y'.repeat(after)}`;
      expect(automaton.isIn(searched)).toBe(true);
      expect(automaton.isIn(searched.replace('6789', '678-'))).toBe(false);
    }
  }
});
