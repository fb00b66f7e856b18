import type { Json } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText, wellFormed } from './canonical.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text + text.slice(0, 1));
const loneText = fc
  .array(fc.integer({ min: 0x20, max: 0xffff }), { maxLength: 8 })
  .map((units) => String.fromCharCode(...units));
const value = fc.jsonValue({ maxDepth: 3 });

test('is what the recipe says where that says something', () => {
  fc.assert(fc.property(value, (json) => canonicalText(json as Json) === canonicalize(json)));
});

test('texts and keys with half characters have one form, equal to that of the text as UTF-8 has it', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, loneText), (text) => {
      const asSent = new TextDecoder().decode(new TextEncoder().encode(text));
      expect(wellFormed(text)).toBe(asSent);
      expect(canonicalText({ a: [text] })).toBe(canonicalize({ a: [asSent] }));
    }),
  );
  expect(canonicalText({ '\ud800': 1 })).toBe('{"\ufffd":1}');
});

test('a text that only spells an escape is left as it is', () => {
  expect(wellFormed('\\ud800 \\\\ud800')).toBe('\\ud800 \\\\ud800');
});

test('what has nothing to mend is given back itself', () => {
  const given = { a: ['😀'] };
  expect(wellFormed(given)).toBe(given);
});
