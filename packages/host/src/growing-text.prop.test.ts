/** A growing text is its pieces in order, at every size. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingText } from './growing-text.ts';

test('has every piece once and in order, whenever it is read', () => {
  const pieces = fc.array(fc.string({ maxLength: 3 }), { maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(pieces, fc.nat(400), (added, readAt) => {
      const text = new GrowingText();
      for (const [i, piece] of added.entries()) {
        if (i === readAt) expect(String(text)).toBe(added.slice(0, i).join(''));
        text.add(piece);
      }
      expect(String(text)).toBe(added.join(''));
      expect(text.length).toBe(added.join('').length);
    }),
  );
});

test('stays in order over more than one level of joined pieces', () => {
  const text = new GrowingText();
  for (let i = 0; i < 40_000; i += 1) text.add(`${i},`);
  expect(String(text)).toBe(Array.from({ length: 40_000 }, (_, i) => `${i},`).join(''));
});
