/** A run and a tenant have a size. Who passes it is stopped with a code; everybody else goes on. */
import type { Json, JsonObject, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { creation, started } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';

const statusOf = async (store: Store, runId: RunId) => {
  const record = (await store.log.head(runId))?.record;
  return [record?.status, record?.errorCode];
};

const set = (name: string, value: Json) => ({ typeId: 'core.setVariable', config: { name, value } });
const gate = { typeId: 'core.interrupt', config: { kind: 'custom', data: { customKind: 'local.test', payload: {} } } };

test('a run whose variables and outputs pass the limit fails, and writes how', async () => {
  const { store, node, begin } = bench(inMemoryStore(), { maxRunStateBytes: 50_000 });
  const engine = node('a');
  const within = await begin(engine, chain(set('a', 'x'.repeat(10_000)), set('a', 'y'.repeat(10_000))));
  expect(await statusOf(store, within)).toEqual(['completed', null]);
  const beyond = { ...chain(set('a', 'x'.repeat(10_000)), set('b', 'x'.repeat(20_000)), 'core.noop'), id: 'beyond' };
  const runId = await begin(engine, beyond);
  expect(await statusOf(store, runId)).toEqual(['failed', 'run_state_too_large']);
  await engine.close();
});

test('inputs that pass the limit are refused when the run starts', async () => {
  const { store, node } = bench(inMemoryStore(), { maxRunStateBytes: 50_000 });
  const engine = node('a');
  await engine.register('t', chain('core.noop'));
  const start = (inputs: JsonObject) => engine.start({ tenant: 't', workflowId: 'flow', inputs, options: {} });
  await expect(start({ a: 'x'.repeat(50_000) })).rejects.toMatchObject({ code: 'run_state_too_large' });
  expect((await store.runIndex.list({ tenant: 't', limit: 9 })).runs).toEqual([]);
  await expect(start({ a: 'x'.repeat(20_000) })).resolves.toMatchObject({ status: 'completed' });
  await engine.close();
});

test('an answer that would pass the limit is refused, and the run waits for a smaller one', async () => {
  const { store, node, begin } = bench(inMemoryStore(), { maxRunStateBytes: 50_000 });
  const engine = node('a');
  const runId = await begin(engine, chain(set('a', 'x'.repeat(10_000)), gate, 'core.noop'));
  const rows = (await store.log.head(runId))?.seq;
  const answer = (value: Json) => engine.answer({ tenant: 't', runId, nodeId: 'n2', value });
  await expect(answer({ text: 'x'.repeat(40_000) })).rejects.toMatchObject({
    code: 'run_state_too_large',
    details: { limit: 50_000 },
  });
  expect((await store.log.head(runId))?.seq).toBe(rows);
  await answer({ text: 'x'.repeat(5_000) });
  expect(await statusOf(store, runId)).toEqual(['completed', null]);
  await engine.close();
});

test('a run that writes too much fails, and its last rows fit in the limit', async () => {
  const limit = 400_000;
  const { store, node, rows } = bench(inMemoryStore(), { maxRunLogBytes: limit });
  const engine = node('a');
  const definition = chain(...Array.from({ length: 60 }, (_, i) => set('a', `${i}${'x'.repeat(5_000)}`)));
  await engine.register('t', definition);
  const before = await store.runIndex.tenantLogBytes('t');
  const { runId } = await engine.start({ tenant: 't', workflowId: 'flow', inputs: {}, options: {} });
  await settled();
  expect(await statusOf(store, runId)).toEqual(['failed', 'run_log_too_large']);
  const written = (await store.runIndex.tenantLogBytes('t')) - before;
  expect(written).toBeLessThanOrEqual(limit);
  expect(written).toBeGreaterThan(limit / 2);
  expect((await rows(runId)).at(-1)?.type).toBe('run.failed');
  await engine.close();
});

test('the size of a run survives a restart', async () => {
  const store = inMemoryStore();
  const limits = { maxRunLogBytes: 100_000 };
  const first = bench(store, limits);
  const engine = first.node('a');
  const runId = await first.begin(engine, chain(set('a', 'x'.repeat(10_000)), gate, set('a', 'y'.repeat(18_000))));
  await engine.close();
  const again = bench(store, limits).node('b');
  await again.answer({ tenant: 't', runId, nodeId: 'n2', value: { ok: true } });
  expect(await statusOf(store, runId)).toEqual(['failed', 'run_log_too_large']);
  await again.close();
});

/** A tenant that has used nearly all of its quota: one run waits for a person, and the step of another is under way. */
async function usedUp() {
  const limit = 200_000;
  const { store, node, begin } = bench(inMemoryStore(), { maxTenantLogBytes: limit });
  const step = heldStep('work');
  const engine = node('a', [step.step]);
  const waiting = await begin(engine, { ...chain(gate), id: 'asks' });
  const active = await begin(engine, { ...chain('local.step.work'), id: 'works' });
  const call = await step.called(1);
  const left = limit - (await store.runIndex.tenantLogBytes('t'));
  const filler = started({ filler: 'x'.repeat(left - 3_000) });
  await store.log.append(creation('run_filler' as RunId, { rows: [filler] }));
  return { store, engine, waiting, active, call, begin };
}

test('a tenant that has used its quota starts no run, and another tenant does', async () => {
  const { store, engine, begin } = await usedUp();
  const large = { ...chain(set('a', 'x'.repeat(3_000))), id: 'large' };
  await expect(begin(engine, large)).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect((await store.runIndex.list({ tenant: 't', workflowId: 'large', limit: 9 })).runs).toEqual([]);
  await engine.register('u', large);
  const other = await engine.start({ tenant: 'u', workflowId: 'large', inputs: {}, options: {} });
  expect(await statusOf(store, other.runId)).toEqual(['completed', null]);
  await engine.close();
});

test('an answer is refused and its run keeps waiting; a cancel still works', async () => {
  const { store, engine, waiting } = await usedUp();
  const value = { text: 'x'.repeat(3_000) };
  const answer = engine.answer({ tenant: 't', runId: waiting, nodeId: 'n1', value });
  await expect(answer).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect((await statusOf(store, waiting))[0]).toMatch(/^waiting/);
  expect((await engine.snapshot('t', waiting)).status).toMatch(/^waiting/);
  await engine.cancel({ tenant: 't', runId: waiting, reason: 'x'.repeat(4_000) });
  expect(await statusOf(store, waiting)).toEqual(['cancelled', null]);
  await engine.close();
});

test('an active run fails with the code when its next rows have no room', async () => {
  const { store, engine, active, call } = await usedUp();
  call.resolve({ text: 'x'.repeat(5_000) });
  await expect.poll(() => statusOf(store, active)).toEqual(['failed', 'quota_exceeded']);
  await engine.close();
});
