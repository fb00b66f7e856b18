import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { creation, row, runA, started } from '../../packages/host/src/log/ports/samples.kit.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import type { Breach } from '../crash/breach.ts';
import { checkHistory, checkStream } from './history.ts';

const payload = (fields: object) => ({ payload: JSON.stringify(fields) });
const asks = row('cairn.step.requested', payload({ callId: 'c1' }));
const returns = row('cairn.step.returned', payload({ callId: 'c1' }));
const question = row('interrupt.requested', payload({ interruptId: 'i1', kind: 'approval' }));
const reply = row('interrupt.resolved', payload({ interruptId: 'i1' }));
const end = row('run.completed', payload({}));

async function written(...rows: readonly ReturnType<typeof row>[]): Promise<Store> {
  const store = inMemoryStore();
  await store.log.append(creation(runA, { rows: [started(), ...rows] }));
  return store;
}

const promises = ({ breaches }: { readonly breaches: readonly Breach[] }) => breaches.map(({ promise }) => promise);

test('a right history is right', async () => {
  const store = await written(asks, returns, question, reply, end);
  expect(await checkHistory(store, 't')).toEqual({ runs: 1, rows: 6, effects: 1, answers: 1, breaches: [] });
});

test('a planted double append of a result is found', async () => {
  const store = await written(asks, returns);
  await store.log.append({ runId: runA, rows: [returns] });
  await store.log.append({ runId: runA, rows: [end] });
  expect(promises(await checkHistory(store, 't'))).toEqual(['no effect is recorded twice']);
});

test('an effect that is asked for again after its result is found, and one that never ends', async () => {
  expect(promises(await checkHistory(await written(asks, returns, asks, end), 't'))).toEqual([
    'a recorded effect is not asked for again',
  ]);
  expect(promises(await checkHistory(await written(asks, end), 't'))).toEqual(['every call ends']);
});

test('a model call that failed may be made again, by a later attempt only, and no other failed call', async () => {
  const model = (attempt: number, end?: object) =>
    end === undefined
      ? row('cairn.model.requested', payload({ callId: 'm', attempt }))
      : row('cairn.model.returned', payload({ callId: 'm', attempt, ...end }));
  const failed = { error: { code: 'model_call_failed' } };
  const checked = async (...rows: readonly ReturnType<typeof row>[]) =>
    promises(await checkHistory(await written(...rows, end), 't'));
  expect(await checked(model(1), model(1, failed), model(2), model(2, { turn: {} }))).toEqual([]);
  expect(await checked(model(1), model(1, failed), model(1), model(2, { turn: {} }))).toEqual([
    'a recorded effect is not asked for again',
  ]);
  expect(await checked(model(1), model(1, failed), model(1, failed))).toEqual(['no effect is recorded twice']);
  const broken = row('cairn.step.returned', payload({ callId: 'c1', attempt: 1, ...failed }));
  expect(await checked(asks, broken, asks, returns)).toEqual([
    'a recorded effect is not asked for again',
    'no effect is recorded twice',
  ]);
});

test('an answer that counts twice, and a question that stays open, are found', async () => {
  expect(promises(await checkHistory(await written(question, reply, reply, end), 't'))).toEqual([
    'an answer counts once',
  ]);
  expect(promises(await checkHistory(await written(question, end), 't'))).toEqual(['no question stays open']);
});

test('a run without an end, a row that is missing, changed or there twice are found', async () => {
  expect(promises(await checkHistory(await written(asks, returns), 't'))).toEqual([
    'a run ends once, with its last row',
    'every run ends right',
  ]);
  const store = await written(asks, returns, end);
  const reading = (change: (rows: Awaited<ReturnType<Store['log']['read']>>) => typeof rows) => ({
    ...store,
    log: {
      ...store.log,
      head: (runId: RunId) => store.log.head(runId),
      read: async (range: Parameters<Store['log']['read']>[0]) => change(await store.log.read(range)),
    },
  });
  const missing = reading((rows) => rows.filter(({ seq }) => seq !== 1));
  expect(promises(await checkHistory(missing, 't'))).toContain('seq is dense');
  const twice = reading((rows) => rows.flatMap((one) => (one.seq === 1 ? [one, one] : [one])));
  expect(promises(await checkHistory(twice, 't'))).toContain('seq is dense');
  const changed = reading((rows) => rows.map((one) => (one.seq === 1 ? { ...one, payload: '{"callId":"c2"}' } : one)));
  expect(promises(await checkHistory(changed, 't'))).toContain('the hash chain is valid');
});

test('a stream with a gap, a repeat or a missing end is found', () => {
  const found = (sequences: readonly number[]) => {
    const breaches: Breach[] = [];
    const seen = sequences.map((sequence) => ({ sequence }));
    checkStream('run', seen, 3, (promise, facts) => void breaches.push({ promise, facts }));
    return breaches.length;
  };
  expect([found([0, 1, 2]), found([0, 2]), found([0, 1, 1, 2]), found([0, 1])]).toEqual([0, 1, 1, 1]);
});
