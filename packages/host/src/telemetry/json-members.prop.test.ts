/** The reader of a few members against the parser that reads all. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMembers } from './json-members.ts';

const key = fc.oneof(fc.constantFrom('a', 'b', 'callId', '__proto__', 'constructor', 'x"y', '\\'), fc.string());

test('finds the same values as a full parse, whatever else is in the object', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.jsonValue())), fc.array(key, { maxLength: 4 }), (entries, wanted) => {
      const object = Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
      const found = readMembers(JSON.stringify(object), wanted);
      for (const [place, name] of wanted.entries()) {
        if (wanted.indexOf(name) !== place) continue;
        // A key that JSON must escape is never asked for by its escaped form.
        if (JSON.stringify(name).slice(1, -1) !== name) continue;
        const expected = Object.hasOwn(object, name) ? JSON.parse(JSON.stringify(object[name])) : undefined;
        expect(found[place]).toEqual(expected);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('never throws on text that is cut off or is no object, as far as what is found is whole', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, at % (text.length + 1));
      expect(() => readMembers(cut, ['', 'nothing'])).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
});

test('stops at the member it is told to stop at', () => {
  const text = JSON.stringify({ callId: 'c', outcome: { error: 1 }, error: 2 });
  expect(readMembers(text, ['callId', 'error'], 'outcome')).toEqual(['c', undefined]);
  expect(readMembers(text, ['callId', 'error'])).toEqual(['c', 2]);
});

test('passes over a large member at a speed that does not matter', () => {
  const text = JSON.stringify({ inputs: { text: 'x'.repeat(1_000_000) }, typeId: 't' });
  const attempts = Array.from({ length: 5 }, () => {
    const since = performance.now();
    expect(readMembers(text, ['typeId'])).toEqual(['t']);
    return performance.now() - since;
  });
  expect(Math.min(...attempts)).toBeLessThan(20);
});
