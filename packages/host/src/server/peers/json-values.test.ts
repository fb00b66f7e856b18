import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonValues, MAX_JSON_VALUES, valuesIn } from './json-values.ts';

const fits = (text: string, isStream = false) => new JsonValues(isStream).take(Buffer.from(text));

test.each([
  ['empty lists', `[${'[],'.repeat(MAX_JSON_VALUES)}1]`],
  ['numbers', `[${'1,'.repeat(MAX_JSON_VALUES)}1]`],
  ['members', `{${'"a":1,'.repeat(MAX_JSON_VALUES)}"b":1}`],
  ['lists in lists', '['.repeat(MAX_JSON_VALUES + 1)],
  ['lists after a text with a quote', `["\\"",${'[],'.repeat(MAX_JSON_VALUES)}1]`],
])('refuses more %s than a message may have', (_, text) => {
  expect(fits(text)).toBe(false);
  expect(fits(`data: ${text}\n\n`, true)).toBe(false);
});

test('takes long texts, whatever is in them', () => {
  expect(fits(JSON.stringify({ text: '{"[,'.repeat(100_000) }))).toBe(true);
});

test('counts each event of a stream alone, and the lines of one event together', () => {
  const half = `data: [${'1,'.repeat(MAX_JSON_VALUES - 10)}1]`;
  expect(fits(`${half}\n\n${half}\r\n\r\n${half}\n\n`, true)).toBe(true);
  for (const end of ['\n', '\r', '\r\n']) expect(fits(`${half}${end}${half}${end}${end}`, true)).toBe(false);
  // A quote in a comment begins no text of the next line.
  for (const end of ['\n', '\r', '\r\n']) expect(fits(`: "${end}${half}${end}${half}${end}${end}`, true)).toBe(false);
});

test('counts the same, however the bytes are cut', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 7 }), (text, size) => {
      const message = Buffer.from(`[${'[],'.repeat(MAX_JSON_VALUES - 20)}${text}]`);
      const cut = new JsonValues(false);
      let isFine = true;
      const rest = message.subarray(-text.length - 20);
      isFine &&= cut.take(message.subarray(0, -text.length - 20));
      for (let i = 0; i < rest.length; i += size) isFine &&= cut.take(rest.subarray(i, i + size));
      expect(isFine).toBe(new JsonValues(false).take(message));
    }),
    { numRuns: 50 },
  );
});

test('counts the values in a value, and no further than asked', () => {
  expect(valuesIn({ a: [1, { b: null }], c: 'x' }, 100)).toBe(6);
  expect(
    valuesIn(
      Array.from({ length: 1_000 }, () => []),
      10,
    ),
  ).toBeLessThan(1_000);
});
