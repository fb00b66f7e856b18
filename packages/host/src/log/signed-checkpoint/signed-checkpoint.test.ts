import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { checkpointLines, readCheckpoint } from './signed-checkpoint.ts';
import { signingKey } from './signing-keys.ts';

const secret = randomBytes(32);
const key = signingKey(secret);
const runs = [
  { runId: 'run_a', seq: 4, hash: 'a'.repeat(64) },
  { runId: 'run_b', seq: 0, hash: 'b'.repeat(64) },
];
const lines = [...checkpointLines({ at: 0, key, runs })];

const read = (text: readonly string[], trusted = [key.publicKey]) => [...readCheckpoint(text, trusted).runs];

test('gives back the runs of a checkpoint that a trusted key signed', () => {
  expect(read(lines)).toEqual(runs);
  expect(readCheckpoint(lines, [key.publicKey])).toMatchObject({ at: '1970-01-01T00:00:00.000Z' });
});

test('a secret always gives the same key, and another secret another one', () => {
  expect(signingKey(secret).publicKey).toBe(key.publicKey);
  expect(signingKey(randomBytes(32)).publicKey).not.toBe(key.publicKey);
});

test('a key that is not trusted does not count, also when its signature is right', () => {
  const other = signingKey(randomBytes(32));
  const foreign = [...checkpointLines({ at: 0, key: other, runs })];
  expect(() => read(foreign)).toThrow(`signed by ${other.publicKey}, not by a trusted key`);
  expect(read(foreign, [other.publicKey])).toEqual(runs);
});

test('a statement that somebody else signed under the name of the key is refused', () => {
  const forged = [
    ...checkpointLines({ at: 0, key: { ...signingKey(randomBytes(32)), publicKey: key.publicKey }, runs }),
  ];
  expect(() => read(forged)).toThrow(`the key ${key.publicKey} did not sign it`);
});

test.each<[string, RegExp, (text: readonly string[]) => readonly string[]]>([
  ['a missing run', /says that there are 2 runs/, (text) => text.toSpliced(1, 1)],
  ['a missing signature', /breaks off/, (text) => text.slice(0, -1)],
  ['a line after the signature', /follows/, (text) => [...text, '{}']],
  [
    'a later version',
    /version 2; this program reads version 1/,
    ([first = '']) => [first.replace('"version":1', '"version":2')],
  ],
  ['a file of another kind', /not the first line of a checkpoint/, () => ['{"kind":"cairn-bundle"}']],
])('refuses %s', (_, message, damage) => {
  expect(() => read(damage(lines))).toThrow(message);
});

test('a changed character anywhere is found', () => {
  const whole = lines.join('\n');
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.constantFrom('0', 'f', 'Z', ' ', '"'), (place, character) => {
      fc.pre(whole[place] !== character && whole[place] !== '\n');
      const changed = (whole.slice(0, place) + character + whole.slice(place + 1)).split('\n');
      expect(() => read(changed)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }));
    }),
    { numRuns: 500 },
  );
  expect(present(lines.at(-1))).toContain('"kind":"signature"');
});
