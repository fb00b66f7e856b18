import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { heldSize, jsonSize } from './json-size.ts';

test('is close to the bytes of the JSON text', () => {
  const value = fc.jsonValue({ stringUnit: 'grapheme', depthSize: 'large' }) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(value, (json) => {
      const bytes = new TextEncoder().encode(JSON.stringify(json)).length;
      expect(jsonSize(json)).toBeLessThanOrEqual(8 * bytes + 8);
      expect(6 * jsonSize(json) + 24).toBeGreaterThanOrEqual(bytes);
    }),
  );
});

test('in memory, each list and object counts more than its brackets', () => {
  expect(heldSize([{}, {}, []])).toBe(16 + 3 * (1 + 16));
  expect(heldSize({ ab: { c: 'd' } })).toBe(16 + 6 + 16 + 5 + 3);
  expect(heldSize('text')).toBe(jsonSize('text'));
});

test.each([
  ['', 2],
  ['é', 4],
  ['😀', 6],
  ['語'.repeat(300), 902],
  ['a'.repeat(200), 202],
  ['a'.repeat(200_000), 200_002],
  ['a語😀'.repeat(50_000), 8 * 50_000 + 2],
  [[1, null, true], 2 + 9 + 5 + 5],
  [{ ab: 'c' }, 2 + 4 + 2 + 3],
])('counts %j', (value, bytes) => {
  expect(jsonSize(value)).toBe(bytes);
});
