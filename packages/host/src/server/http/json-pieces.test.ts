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

test('no piece is larger than one entry of one member', () => {
  const entries = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`n${i}`, { text: 'x'.repeat(1_000) }]));
  const document = { nodeStates: entries, channels: { all: Array.from({ length: 100 }, () => 'y'.repeat(1_000)) } };
  expect(Math.max(...[...jsonPieces(document)].map(({ length }) => length))).toBeLessThan(1_100);
});

test('a stretch ends with the piece that fills it, and the text is whole', () => {
  const pieces = jsonPieces(Array.from({ length: 100 }, () => 'x'.repeat(98)));
  const first = nextStretch(pieces, 250);
  expect(first).toHaveLength(303);
  expect(JSON.parse(first + nextStretch(pieces, 1_000_000))).toHaveLength(100);
  expect(nextStretch(pieces)).toBe('');
});

test('a large document is rendered over many turns', async () => {
  let turns = 0;
  const nextTurn = (begin: () => void) => {
    turns += 1;
    setImmediate(begin);
  };
  const document = { nodeStates: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, 'x'.repeat(100_000)])) };
  const text = await renderedInTurns(document, 't', new FairTurns({ budget: 200_000, nextTurn }));
  expect(text).toBe(JSON.stringify(document));
  expect(turns).toBeGreaterThan(8);
});
