import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedKeyIn } from './repeated-key.ts';

const found = (text: string) => repeatedKeyIn(text, JSON.parse(text));

test('finds no key in JSON that has each once', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.constantFrom(undefined, 2), (value, indent) => {
      expect(found(JSON.stringify(value, null, indent))).toBeNull();
    }),
  );
});

test.each([
  ['{"a":1,"a":2}', 'a'],
  ['[{"a":{"b":1}},{"a":{"b":2,"c":[],"c":[]}}]', 'c'],
  ['{"a":{"b":1},"c":{"b":2,"d\\"":3,"d\\u0022":4}}', 'd"'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"":1,"":2}', ''],
])('finds the repeated key of %s', (text, key) => {
  expect(found(text)).toBe(key);
});
