/** No byte of a bundle can be changed, added or taken away unnoticed. */
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
