import { expect, test } from 'vitest';
import { bench } from '../../../test/kit/engine-bench.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { defineWorkflow, fixed } from './define-workflow.ts';
import { MAX_VERSIONS } from './version-quota.ts';

test('a host writes the same bytes before and after a restart, whatever the order of keys in a definition', async () => {
  const { node, begin, rows, seen } = bench();
  const definition = defineWorkflow({
    id: 'flow',
    version: '1',
    nodes: { n: { type: 'core.identity', inputs: { z: fixed({ b: 1, a: { d: 2, c: 3 } }), y: fixed(1) } } },
  });
  const written = async (owner: string, isNew: boolean) => {
    const engine = node(owner);
    const started = { tenant: 't', workflowId: 'flow', inputs: {}, options: {} };
    const runId = isNew ? await begin(engine, definition) : (await engine.start(started)).runId;
    await seen(runId, 'run.completed');
    await engine.close();
    return (await rows(runId)).filter(({ type }) => type.startsWith('node.')).map(({ payload }) => payload);
  };
  const first = await written('a', true);
  expect(first[0]).toContain('"inputs":{');
  expect(await written('b', false)).toEqual(first);
});

test('a host stores nothing of a definition that a tenant has no room for', async () => {
  const { node, store } = bench();
  const engine = node('a');
  const bodies: string[] = [];
  Object.assign(store.definitions, {
    count: async () => MAX_VERSIONS,
    put: async (_: string, body: string) => void bodies.push(body),
  });
  const definition = defineWorkflow({ id: 'flow', version: '1', nodes: { n: { type: 'core.noop' } } });
  await expect(engine.register('t', definition)).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(bodies).toEqual([]);
  await engine.close();
});

test('a tenant pays for its definitions, and one without room registers none', async () => {
  const { node, store } = bench(inMemoryStore(), { maxTenantLogBytes: 2_000 });
  const engine = node('a');
  const register = (id: string, text: string) =>
    engine.register(
      't',
      defineWorkflow({ id, nodes: { n: { type: 'core.identity', inputs: { text: fixed(text) } } } }),
    );
  await register('small', 'x');
  await register('small', 'x');
  const used = await store.runIndex.tenantLogBytes('t');
  expect(used).toBeGreaterThan(100);
  expect(used).toBeLessThan(1_000);
  await expect(register('large', 'x'.repeat(2_000))).rejects.toMatchObject({ code: 'quota_exceeded' });
  // What is there already costs nothing.
  await register('small', 'x');
  expect(await store.runIndex.tenantLogBytes('t')).toBe(used);
  await engine.close();
});

test('a tenant that is full keeps nobody from starting the host with a new workflow', async () => {
  const { node, store } = bench(inMemoryStore(), { maxTenantLogBytes: 10 });
  const engine = node('a');
  Object.assign(store.definitions, { count: async () => MAX_VERSIONS });
  const definition = defineWorkflow({ id: 'flow', version: '1', nodes: { n: { type: 'core.noop' } } });
  await expect(engine.register('t', definition)).rejects.toMatchObject({ code: 'quota_exceeded' });
  await engine.register('t', definition, { isOfHost: true });
  expect(await store.runIndex.tenantLogBytes('t')).toBe(0);
  await engine.close();
});

test('a host refuses a version that would be long in every list and run', async () => {
  const { node } = bench();
  const engine = node('a');
  const definition = defineWorkflow({ id: 'flow', nodes: { n: { type: 'core.noop' } } });
  const register = (length: number) => engine.register('t', { ...definition, version: 'v'.repeat(length) });
  await register(128);
  await expect(register(129)).rejects.toMatchObject({ code: 'validation_error' });
  await engine.close();
});

test('a host refuses a definition of more characters than it reads at once', async () => {
  const { node } = bench();
  const engine = node('a');
  const nodes = { n: { type: 'core.identity', inputs: { text: fixed('x'.repeat(525_000)) } } } as const;
  await expect(engine.register('t', defineWorkflow({ id: 'flow', version: '1', nodes }))).rejects.toMatchObject({
    code: 'definition_too_large',
    details: { limit: 524_288 },
  });
  await engine.close();
});
