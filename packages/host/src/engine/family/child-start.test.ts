import { RetryableError, type RunId, type WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, faulty, settled } from '../../../test/kit/engine-bench.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';

const named = (id: string, definition: WorkflowDefinition): WorkflowDefinition => ({ ...definition, id });
const approval = { typeId: 'core.approvalGate', config: { title: 'Go on?', actions: ['accept', 'reject'] } };
const sub = { typeId: 'core.subWorkflow', config: { workflowId: 'kid' } };
const isChild = ({ runId, create }: Append): boolean => create !== undefined && runId.includes('.');
const child = (runId: RunId): RunId => `${runId}.0` as RunId;

/** Lets what waits for time have it, a bit at a time. */
async function pass(clock: { now(): number; advanceTo(at: number): void }, ms: number): Promise<void> {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    clock.advanceTo(Math.min(clock.now() + 50, until));
    await settled();
  }
}

test.for(['fail', 'lose-answer'] as const)(
  'a child whose first append does not go well (%s) is there once, and its parent waits for it',
  async (fault) => {
    const store = inMemoryStore();
    let attempts = 0;
    const over = faulty(store, (append) => (isChild(append) && ++attempts <= 2 ? fault : 'pass'));
    const { node, begin, types, clock, seen } = bench(store);
    const engine = node('a', [], over);
    await engine.register('t', named('kid', chain('core.noop')));
    const runId = await begin(engine, named('top', chain(sub)));
    await pass(clock, 2_000);
    await seen(runId, 'run.completed');
    expect(await types(child(runId))).toContain('run.completed');
    expect((await types(runId)).filter((type) => type === 'node.dispatched')).toHaveLength(1);
  },
);

test('a host that stops while it starts a child does not fail the parent for it', async () => {
  const store = inMemoryStore();
  const over = faulty(store, (append) => (isChild(append) ? 'fail' : 'pass'));
  const { node, begin, types, clock, seen } = bench(store);
  const first = node('a', [], over);
  await first.register('t', named('kid', chain('core.noop')));
  const runId = await begin(first, named('top', chain(sub)));
  await settled();
  await first.close();
  expect(await types(runId)).not.toContain('node.failed');
  await node('b').open();
  await pass(clock, 2_000);
  await seen(runId, 'run.completed');
});

test('a child that is made after its node has ended is cancelled, whoever goes on above it', async () => {
  const store = inMemoryStore();
  const held = Promise.withResolvers<void>();
  const append = async (request: Append) => {
    if (isChild(request)) await held.promise;
    return store.log.append(request);
  };
  const over: Store = { ...store, log: { ...store.log, append } };
  const { node, begin, types, clock, seen } = bench(store);
  const engine = node('a', [], over);
  await engine.register('t', named('kid', chain(approval)));
  const top = chain({ ...sub, settings: { timeoutMs: 100 } }, approval);
  const onFailure = top.edges.map((edge) => ({ ...edge, triggerRule: 'all_complete' as const }));
  const runId = await begin(engine, { ...named('top', top), edges: onFailure });
  await settled();
  await pass(clock, 200);
  await seen(runId, 'node.failed');
  held.resolve();
  await seen(child(runId), 'run.cancelled');
  expect(await types(runId)).not.toContain('run.failed');
});

test('a child that cannot be is refused at once', async () => {
  const store = inMemoryStore();
  const { node, begin, rows, seen } = bench(store);
  const runId = await begin(node('a'), named('top', chain(sub)));
  await seen(runId, 'run.failed');
  const failed = (await rows(runId)).find(({ type }) => type === 'run.failed');
  expect(failed?.payload).toContain('unknown_child_workflow');
});

test('the end of a child is heard by a parent that takes its lease right then, though nobody lives to tell it', async () => {
  const store = inMemoryStore();
  const { node, begin, rows, clock, seen } = bench(store);
  const held = { until: Promise.resolve() };
  const append = async (request: Append) => {
    await held.until;
    return store.log.append(request);
  };
  const a = node('a', [], { ...store, log: { ...store.log, append } });
  await a.register('t', named('kid', chain(approval)));
  const runId = await begin(a, named('top', chain(sub)));
  await seen(child(runId), 'node.suspended');
  await pass(clock, 3_000);
  expect((await store.log.head(runId))?.owner).toBeNull();
  const letGo = Promise.withResolvers<void>();
  held.until = letGo.promise;
  const paused = a.pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  await settled();
  const b = node(
    'b',
    [],
    faulty(store, (request) => (request.runId === runId ? 'fail' : 'pass')),
  );
  await b.answer({ tenant: 't', runId: child(runId), nodeId: 'n1', value: { action: 'accept' } });
  await seen(child(runId), 'run.completed');
  letGo.resolve();
  await paused;
  await pass(clock, 1_000);
  const told = (await rows(runId)).filter(
    ({ payload }) => payload.includes('"childRunId"') && payload.includes('"status"'),
  );
  expect(told.map(({ type }) => type)).toEqual(['cairn.step.returned']);
});

/** A host that falls silent once it is to make a child, until it is let go. */
function fallsSilent(store: Store): { over: Store; letGo: () => void } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const append = async (request: Append) => {
    isHeld ||= isChild(request);
    if (isHeld) await held.promise;
    return store.log.append(request);
  };
  const renew = () => Promise.reject(new RetryableError('store_failed', { message: 'no' }));
  const over: Store = { ...store, log: { ...store.log, append }, queue: { ...store.queue, renew } };
  return { over, letGo: held.resolve };
}

test('a child that a host makes after another has taken its parent over looks above it, and ends with its node', async () => {
  const store = inMemoryStore();
  const { node, begin, clock, seen } = bench(store);
  const { over, letGo } = fallsSilent(store);
  const silent = node('a', [], over);
  await silent.open();
  await silent.register('t', named('kid', chain(approval)));
  const top = chain({ ...sub, settings: { timeoutMs: 100 } }, approval);
  const onFailure = top.edges.map((edge) => ({ ...edge, triggerRule: 'all_complete' as const }));
  const runId = await begin(silent, { ...named('top', top), edges: onFailure });
  await node('b').open();
  await pass(clock, 30_000);
  await seen(runId, 'node.suspended');
  letGo();
  await seen(child(runId), 'run.cancelled');
});

test('who writes to a child at a host that is late to make it is heard all the same', async () => {
  const store = inMemoryStore();
  const { node, begin, clock, seen, types } = bench(store);
  const { over, letGo } = fallsSilent(store);
  const silent = node('a', [], over);
  await silent.open();
  await silent.register('t', named('kid', chain(approval)));
  const runId = await begin(silent, named('top', chain(sub)));
  await node('b').open();
  await pass(clock, 30_000);
  await seen(child(runId), 'node.suspended');
  const cancelled = silent.cancel({ tenant: 't', runId: child(runId) });
  await settled();
  letGo();
  await cancelled;
  await pass(clock, 2_000);
  expect(await types(child(runId))).toContain('run.cancelled');
});
