import type { Json } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairTurns } from '../../fair-turns.ts';
import { jsonPieces, nextStretch, renderedInTurns } from './json-pieces.ts';

test('the pieces of a document are its JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
    }),
  );
  const document = { a: undefined, b: { c: undefined, d: [undefined, 1] }, long: Array.from({ length: 100 }, String) };
  expect([...jsonPieces(document)].join('')).toBe(JSON.stringify(document));
});

/** A value that is larger than a piece, with this value deep inside. */
const around = (value: Json, depth: number): Json =>
  depth === 0 ? value : { before: 'x'.repeat(20_000), inner: [around(value, depth - 1)], after: [null, 1] };

test('a large document is taken apart at any depth, and its text is the same', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, { i, list: [i, `"${i}"`] }]));
  for (const depth of [0, 1, 3, 6]) {
    const document = around({ wide, list: Array.from({ length: 5_000 }, (_, i) => i) }, depth);
    const pieces = [...jsonPieces(document)];
    expect(pieces.join('') === JSON.stringify(document)).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(33_000);
  }
});

test('a long text is taken apart between its characters, and the pieces are its JSON text', () => {
  const texts = ['x'.repeat(100_000), `x${'😀'.repeat(50_000)}`, '\ud83d'.repeat(40_000), '"\n\u0000é'.repeat(20_000)];
  for (const text of texts) {
    const pieces = [...jsonPieces({ text })];
    expect(pieces.join('') === JSON.stringify({ text })).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
    expect(pieces.length).toBeGreaterThan(5);
  }
});

test('a stretch ends with the piece that fills it, and the text is whole', () => {
  const pieces = jsonPieces(Array.from({ length: 100 }, () => 'x'.repeat(19_998)));
  const first = nextStretch(pieces, 50_000);
  expect(first.length).toBeGreaterThanOrEqual(50_000);
  expect(first.length).toBeLessThan(67_000);
  expect(JSON.parse(first + nextStretch(pieces, 10_000_000))).toHaveLength(100);
  expect(nextStretch(pieces)).toBe('');
});

test('a large document is rendered over many turns, in parts that nobody joins', async () => {
  let turns = 0;
  const nextTurn = (begin: () => void) => {
    turns += 1;
    setImmediate(begin);
  };
  const document = { nodeStates: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, 'x'.repeat(100_000)])) };
  const parts = await renderedInTurns(document, { owner: 't', turns: new FairTurns({ budget: 200_000, nextTurn }) });
  expect(parts.join('') === JSON.stringify(document)).toBe(true);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(110_000);
  expect(turns).toBeGreaterThan(8);
});
