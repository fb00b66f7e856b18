import { expect, test } from 'vitest';
import { phrasesIn, wordsIn } from './search-words.ts';

test.each([
  ['Tea, tea; TEA!', ['tea', 'tea', 'tea']],
  ['Café Ångström naïve', ['cafe', 'angstrom', 'naive']],
  ['companies boxes invoices', ['company', 'boxe', 'invoice']],
  ['status class bus is as', ['status', 'class', 'bus', 'is', 'as']],
  ['v2.1 room-12 a_b', ['v2', '1', 'room', '12', 'a', 'b']],
  ['ﬁne ①', ['fine', '1']],
  ['東京 is Tokyo', ['東', '京', 'is', 'tokyo']],
  ['Привет мир', ['привет', 'мир']],
  ['"\\*()^:-\u0000\n', []],
  ['', []],
])('the words of %j', (text, words) => {
  expect(wordsIn(text)).toEqual(words);
});

test('a word is cut where nobody would read on, and never inside of a character', () => {
  expect(wordsIn('x'.repeat(10_000))).toEqual(['x'.repeat(64)]);
  expect(wordsIn(`${'x'.repeat(63)}${'𝒳'.repeat(3)}`)[0]?.isWellFormed()).toBe(true);
  expect(wordsIn('a\ud800b').every((word) => word.isWellFormed())).toBe(true);
});

test('what is asked looks for each word once, for the longest of many, and for neighbours where there are no spaces', () => {
  expect(phrasesIn('tea Tea teas')).toEqual([['tea']]);
  expect(phrasesIn('東京都')).toEqual([
    ['東', '京'],
    ['京', '都'],
  ]);
  expect(phrasesIn('京')).toEqual([['京']]);
  const many = Array.from({ length: 40 }, (_, i) => 'w'.repeat(i + 1));
  expect(phrasesIn(many.join(' '))).toHaveLength(12);
  expect(phrasesIn(many.join(' '))[0]).toEqual(['w'.repeat(40)]);
});
