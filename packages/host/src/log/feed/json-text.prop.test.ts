import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

test('a text is quoted as JSON quotes it, the first time and when it comes again', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(text, (one) => {
      expect([jsonText(one), jsonText(one)]).toEqual([JSON.stringify(one), JSON.stringify(one)]);
    }),
  );
});

test('more names than are remembered are still quoted right', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `node "${i}"`);
  for (const name of [...names, ...names]) expect(jsonText(name)).toBe(JSON.stringify(name));
});
