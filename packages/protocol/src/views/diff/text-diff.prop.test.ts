import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_TEXT, type TextPart, textDiff } from './text-diff.ts';

const side = (parts: readonly TextPart[], op: 'added' | 'removed'): string =>
  parts
    .filter((part) => part.op === 'same' || part.op === op)
    .map(({ text }) => text)
    .join('');

/** Short lines of few words, so that texts have much in common. */
const word = fc.constantFrom('a', 'b', 'c', 'dd');
const text = fc
  .array(
    fc.array(word, { maxLength: 3 }).map((words) => words.join(' ')),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));

test('the parts of a difference give both texts', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const parts = textDiff(a, b);
      if (a === b) return parts === null;
      // No part here is long enough to be shortened, unless it lies at an end.
      const whole = (parts ?? []).every((part) => !part.text.includes('…'));
      return !whole || (side(parts ?? [], 'removed') === a && side(parts ?? [], 'added') === b);
    }),
  );
});

test('one changed line in many is one removed and one added line, with its neighbours', () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
  const changed = lines.map((line, i) => (i === 20 ? 'another line' : line));
  expect(textDiff(lines.join('\n'), changed.join('\n'))).toEqual([
    { op: 'same', text: '… 17 unchanged lines\nline 17\nline 18\nline 19\n' },
    { op: 'removed', text: 'line 20\n' },
    { op: 'added', text: 'another line\n' },
    { op: 'same', text: 'line 21\nline 22\nline 23\n… 16 unchanged lines\n' },
  ]);
});

test('one line is compared by words', () => {
  expect(textDiff('the tide is known', 'the tide is forgotten')).toEqual([
    { op: 'same', text: 'the tide is ' },
    { op: 'removed', text: 'known' },
    { op: 'added', text: 'forgotten' },
  ]);
});

test('texts with nothing in common are replaced, however long they are', () => {
  const many = (name: string) => Array.from({ length: 30_000 }, (_, i) => `${name}${i}`).join('\n');
  const parts = textDiff(many('x'), many('y')) ?? [];
  expect(parts.map(({ op }) => op)).toEqual(['removed', 'added']);
  expect(parts.every((part) => part.text.length <= MAX_TEXT)).toBe(true);
});
