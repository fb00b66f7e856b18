/** Rows that hold the same large value share it, and nobody can tell from what they read. */
import { foldEventOf, type Json } from '@cairn/protocol';
import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import { purge } from '../../ports/purging.kit.ts';
import { rowBytes } from '../../ports/row-bytes.ts';
import type { NewRow, Row } from '../../ports/rows.ts';
import { context, creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open } from '../folder/folders.kit.ts';

const { fresh } = folders();
const stores: { close(): Promise<void> }[] = [];
const opened = async () => {
  const store = await open(fresh());
  stores.push(store);
  return store;
};
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
const list = (name: string) => Array.from({ length: 600 }, (_, i) => ({ name: `${name}${i}` }));
const holding = (value: Json, task: Json = null): NewRow =>
  row('local.held', { payload: JSON.stringify({ of: 'a', value }), task: task === null ? null : JSON.stringify(task) });

/** The large value as the event of a row has it. */
function heldBy(stored: Row | undefined): unknown {
  const { payload }: { readonly payload: unknown } = foldEventOf(present(stored));
  return (payload as { readonly value: unknown }).value;
}

describe('a large value', () => {
  it('is one object in all events that hold it, on every page and in a context', async () => {
    const store = await opened();
    const rows = [started(), holding(list('a')), holding(list('a'), { result: list('a') }), holding(list('b'))];
    await store.log.append(creation(runA, { rows }));
    const [, first, second, other] = await rowsOf(store, runA);
    expect(heldBy(first)).toEqual(list('a'));
    expect(heldBy(second)).toBe(heldBy(first));
    expect(heldBy(other)).toEqual(list('b'));
    const [, inContext] = await store.log.read({ contextId: context, afterCursor: 0, limit: 9 });
    expect(heldBy(inContext)).toBe(heldBy(first));
  });

  it('makes room for others, so that little stays in memory', async () => {
    const store = await opened();
    const rows = Array.from({ length: 30 }, (_, i) => holding(Array.from({ length: 20_000 }, () => ({ i }))));
    await store.log.append(creation(runA, { rows: [started(), ...rows] }));
    const [, first] = await store.log.read({ runId: runA, after: -1, limit: 2 });
    const before = heldBy(first);
    for (const stored of await rowsOf(store, runA)) heldBy(stored);
    const [, again] = await store.log.read({ runId: runA, after: -1, limit: 2 });
    expect(heldBy(again)).toEqual(before);
    expect(heldBy(again)).not.toBe(before);
  });

  it('is never taken for that of a purged run whose key it has', async () => {
    const store = await opened();
    await store.log.append(creation(runA, { rows: [started(), holding(list('a')), row('run.completed')] }));
    for (const stored of await rowsOf(store, runA)) foldEventOf(stored);
    await purge(store, runA);
    await store.log.append(creation(runB, { rows: [started(), holding(list('b'))] }));
    const [, first] = await rowsOf(store, runB);
    expect(heldBy(first)).toEqual(list('b'));
  });
});

it('reads a copy of a row with another payload as that', async () => {
  const store = await opened();
  await store.log.append(creation(runA, { rows: [started(), holding(list('a'))] }));
  const [, stored] = await rowsOf(store, runA);
  expect(heldBy({ ...present(stored), payload: '{"value":1}' })).toBe(1);
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

test('a row reads and counts as its texts do', async () => {
  const store = await opened();
  const values = fc.sample(value, { numRuns: 200, seed: 12 }).map((one) => JSON.parse(JSON.stringify(one)) as Json);
  const rows = values.map((one, i) => holding(one, i % 2 === 0 ? { result: one } : null));
  await store.log.append(creation(runA, { rows: [started(), ...rows] }));
  for (const stored of await rowsOf(store, runA)) {
    const { payload, task } = stored;
    expect(foldEventOf(stored).payload).toEqual(JSON.parse(payload));
    expect(JSON.stringify(foldEventOf(stored).payload)).toBe(payload);
    expect(rowBytes(stored)).toBe(rowBytes({ payload, task }));
  }
});
