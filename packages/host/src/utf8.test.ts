import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exceedsUtf8, utf8Prefix, utf8Size } from './utf8.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const text = fc.string({ unit: 'grapheme', maxLength: 40 });

test('counts the bytes that an encoder writes, also for lone surrogates', () => {
  fc.assert(fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (one) => utf8Size(one) === bytesOf(one)));
  expect(['a', 'é', '€', '😀', '\ud800'].map(utf8Size)).toEqual([1, 2, 3, 4, 3]);
});

test('tells exactly which texts are longer than a limit', () => {
  fc.assert(fc.property(text, fc.nat(130), (one, bytes) => exceedsUtf8(one, bytes) === bytesOf(one) > bytes));
});

test('gives the longest beginning that fits', () => {
  fc.assert(
    fc.property(text, fc.nat(130), (one, bytes) => {
      const cut = utf8Prefix(one, bytes);
      const next = [...one.slice(cut.length)][0] ?? '';
      expect(one.startsWith(cut)).toBe(true);
      expect(bytesOf(cut)).toBeLessThanOrEqual(bytes);
      if (next !== '') expect(bytesOf(cut + next)).toBeGreaterThan(bytes);
    }),
  );
});
