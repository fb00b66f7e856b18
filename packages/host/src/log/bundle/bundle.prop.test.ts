/** No byte of a bundle can be changed, added or taken away unnoticed. */
import { hash } from 'node:crypto';
import { isCairnError } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBundle } from './bundle.ts';
import { linesOf } from './bundle-bytes.ts';
import { bundleOf } from './bundle-samples.kit.ts';

const rowsOf = (bytes: Uint8Array) => Array.from(readBundle(linesOf([bytes])).runs, ({ rows }) => [...rows]).flat();

test('a byte that is changed, added or left out anywhere is found', async () => {
  const whole = Buffer.from((await bundleOf({ withChild: true })).map((line) => `${line}\n`).join(''));
  expect(rowsOf(whole).length).toBe(4);
  fc.assert(
    fc.property(
      fc.nat(whole.length - 1),
      fc.nat(255),
      fc.constantFrom('change', 'insert', 'delete'),
      (place, byte, how) => {
        fc.pre(how !== 'change' || whole[place] !== byte);
        fc.pre(how !== 'delete' || whole.length > 0);
        const kept = how === 'insert' ? place : place + 1;
        const bytes = how === 'delete' ? [] : [byte];
        const damaged = Buffer.concat([whole.subarray(0, place), Buffer.from(bytes), whole.subarray(kept)]);
        fc.pre(!damaged.equals(whole));
        expect(() => rowsOf(damaged)).toThrow(expect.objectContaining({ code: 'bundle_invalid' }));
      },
    ),
    { numRuns: 5_000 },
  );
});

test('a flipped bit in every field of a tree with a fork, a child and purged events is found, and its event is named', async () => {
  const whole = await bundleOf({ withChild: true });
  const field = (line: string | undefined, fields: object) => JSON.stringify({ ...JSON.parse(line ?? ''), ...fields });
  const at = (kind: string, n: number) =>
    whole.flatMap((line, i) => (line.startsWith(`{"kind":"${kind}"`) ? [i] : []))[n] ?? 0;
  const fork = { sourceRunId: 'run_source', fromSeq: 1, mode: 'branch' };
  const lines = whole
    .with(at('row', 1), field(whole[at('row', 1)], { payload: null }))
    .with(at('run', 1), field(whole[at('run', 1)], { fork }));
  const sealed = resealed(lines);
  expect(rowsOf(bytesOf(sealed))).toHaveLength(4);
  const unnamed: string[] = [];
  for (const [n, line] of sealed.entries()) {
    for (const place of placesIn(line)) {
      const text = Buffer.from(line);
      text[place] = (text[place] ?? 0) ^ (1 << (place % 7));
      const damaged = [
        ...sealed.slice(0, n).map((one) => Buffer.from(one)),
        text,
        ...sealed.slice(n + 1).map((one) => Buffer.from(one)),
      ];
      const bytes = Buffer.concat(damaged.flatMap((one) => [one, Buffer.from('\n')]));
      const found = messageOf(() => rowsOf(bytes));
      if (found === null || (isWholeRow(line) && !/event \d+ of run run_a/.test(found)))
        unnamed.push(`${n}:${place} ${found}`);
    }
  }
  expect(unnamed).toEqual([]);
});

/** The columns of a purged event have no hash of their own any more: only the digest of the file finds them. */
const isWholeRow = (line: string): boolean => line.startsWith('{"kind":"row"') && !line.includes('"payload":null');

const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''));

/** The lines with an end that fits them. */
function resealed(lines: readonly string[]): readonly string[] {
  const before = lines.slice(0, -1);
  const end = { ...JSON.parse(lines.at(-1) ?? ''), sha256: hash('sha256', bytesOf(before), 'hex') };
  return [...before, JSON.stringify(end)];
}

/** Where fields begin and end, and every fifth byte between. */
const placesIn = (line: string): readonly number[] =>
  Array.from(Buffer.from(line).entries())
    .filter(([place, byte]) => place % 5 === 0 || '":,{}[]'.includes(String.fromCharCode(byte)))
    .map(([place]) => place);

function messageOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return isCairnError(error, 'bundle_invalid') ? error.message : null;
  }
}

test('a byte order mark is a change, too', async () => {
  const whole = Buffer.from((await bundleOf()).map((line) => `${line}\n`).join(''));
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole]);
  expect(() => rowsOf(marked)).toThrow(/Line 1 is wrong/);
});

test('lines are the same however the bytes come in', async () => {
  const lines = await bundleOf();
  const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 20 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
      expect([...linesOf(refilled(whole, places))]).toEqual(lines);
    }),
  );
});

/** The pieces between the places, each in the same buffer, as a file is read. */
function* refilled(whole: Buffer, places: readonly number[]): Generator<Uint8Array> {
  const buffer = Buffer.alloc(whole.length);
  for (const [i, end] of places.slice(1).entries()) {
    yield buffer.subarray(0, whole.copy(buffer, 0, places[i], end));
  }
}
