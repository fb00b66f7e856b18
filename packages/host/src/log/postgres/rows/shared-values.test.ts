/** Rows of Postgres hold whole texts. What is parsed of them is shared, and nobody can tell from what they read. */
import { foldEventOf, type Json } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import type { NewRow, Row } from '../../ports/rows.ts';
import { context, creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { emptiedStores } from '../server.kit.ts';
import { SharedValues } from './shared-values.ts';

const opened = emptiedStores();
const list = (name: string) => Array.from({ length: 600 }, (_, i) => ({ name: `${name}${i}` }));
const holding = (value: Json): NewRow => row('local.held', { payload: JSON.stringify({ of: 'a', value }) });

/** The large value as the event of a row has it. */
function heldBy(stored: Row | undefined): unknown {
  const { payload }: { readonly payload: unknown } = foldEventOf(present(stored));
  return (payload as { readonly value: unknown }).value;
}

describe('a large value', { timeout: 60_000 }, () => {
  it('is one object in all events that hold it: of runs, contexts and changes', async () => {
    const store = await opened();
    const rows = [started(), holding(list('a')), holding(list('a')), holding(list('b'))];
    for (const runId of [runA, runB]) await store.log.append(creation(runId, { rows }));
    const [, first, second, other] = await rowsOf(store, runA);
    expect(heldBy(first)).toEqual(list('a'));
    expect(heldBy(second)).toBe(heldBy(first));
    expect(heldBy(other)).toEqual(list('b'));
    const [, ofAnother] = await rowsOf(store, runB);
    expect(heldBy(ofAnother)).toBe(heldBy(first));
    const [, inContext] = await store.log.read({ contextId: context, afterCursor: 0, limit: 9 });
    expect(heldBy(inContext)).toBe(heldBy(first));
    const changes = await store.changes.read({ after: '0', limit: 9, filter: null });
    expect(heldBy(changes.rows[1])).toBe(heldBy(first));
    await store.close();
  });
});

it('reads no task faces for a fold', { timeout: 60_000 }, async () => {
  const store = await opened();
  const rows = [started(), row('a', { task: '{"kind":"status"}' })];
  await store.log.append(creation(runA, { rows }));
  const range = { runId: runA, after: 0, limit: 9 };
  const tasks = [await store.log.read(range), await store.log.read({ ...range, isForFolds: true })].map(
    ([one]) => one?.task,
  );
  expect(tasks).toEqual(['{"kind":"status"}', null]);
  await store.close();
});

const rowWith = (payload: string): Row => ({
  ...{ runId: runA, seq: 1, contextId: context, cursor: 1, at: 1, type: 'local.held', nodeId: null, cause: null },
  ...{ audience: 'client' as const, payload, task: null, face: 0, rowHash: '', hash: '' },
});
const sharedRow = (values: SharedValues, value: Json): Row =>
  present(values.sharing([rowWith(JSON.stringify({ of: 'a', value }))])[0]);

it('makes room for others, so that little stays in memory', () => {
  const values = new SharedValues();
  const parts = (i: number) => Array.from({ length: 20_000 }, () => ({ i }));
  const before = heldBy(sharedRow(values, parts(0)));
  expect(heldBy(sharedRow(values, parts(0)))).toBe(before);
  for (let i = 1; i < 30; i += 1) heldBy(sharedRow(values, parts(i)));
  const again = heldBy(sharedRow(values, parts(0)));
  expect(again).toEqual(before);
  expect(again).not.toBe(before);
});

it('reads a copy of a row with another payload as that', () => {
  const shared = sharedRow(new SharedValues(), list('a'));
  expect(heldBy({ ...shared, payload: '{"value":1}' })).toBe(1);
});

const large = fc.oneof(
  fc.constantFrom('x', 'é', '𝄞', '"', '\\', '\n').map((part) => part.repeat(4_096)),
  fc.constantFrom('a', 'b').map(list),
  fc.constant({ ['__proto__']: 'p'.repeat(5_000) }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    large,
    fc.string(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'n'.repeat(5_000))), tie('value'), { maxKeys: 3 }),
  ),
}));

test('a row reads as its text does', () => {
  const values = new SharedValues();
  fc.assert(
    fc.property(value, (held) => {
      const text = JSON.stringify({ of: 'a', value: held });
      const stored = present(values.sharing([rowWith(text)])[0]);
      expect(foldEventOf(stored).payload).toEqual(JSON.parse(text));
      expect(JSON.stringify(foldEventOf(stored).payload)).toBe(text);
    }),
  );
});
