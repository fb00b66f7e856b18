import type { WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, faulty, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import { present } from '../../../test/kit/present.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Engine } from '../engine.ts';
import type { Step } from '../ports.ts';

test('a run of pure nodes is written in one append and is over when start answers', async () => {
  const { store, node, begin, types } = bench();
  const appends: Append[] = [];
  const watched = faulty(store, (append) => {
    appends.push(append);
    return 'pass';
  });
  const engine = node('a', [], watched);
  const runId = await begin(engine, chain('core.noop', 'core.noop'));
  expect(appends).toHaveLength(1);
  expect(await types(runId)).toEqual([
    'run.started',
    'cairn.task.status',
    'node.started',
    'node.completed',
    'node.started',
    'node.completed',
    'cairn.task.status',
    'run.completed',
  ]);
  expect((await engine.snapshot('t', runId)).status).toBe('completed');
});

test('a step starts only after the row that asks for it is durable, and its result shares a commit with what follows', async () => {
  const { store, node, begin, types, seen } = bench();
  const held = heldStep('work');
  const commits: string[][] = [];
  store.log.follow((commit) => commits.push(commit.rows.map((row) => row.type)));
  const engine = node('a', [held.step]);
  const runId = await begin(engine, chain('local.step.work', 'local.step.work'));
  const first = await held.called(1);
  expect((await types(runId)).at(-1)).toBe('cairn.step.requested');
  first.resolve({ n: 1 });
  const second = await held.called(2);
  expect(commits.at(-1)).toEqual(['cairn.step.returned', 'node.completed', 'node.started', 'cairn.step.requested']);
  second.resolve({ n: 2 });
  await seen(runId, 'run.completed');
  expect(await engine.snapshot('t', runId)).toMatchObject({ status: 'completed' });
  expect(held.calls).toHaveLength(2);
});

test('an answer sent to a node that does not hold the run is taken up by the one that does', async () => {
  const { node, begin, seen, types } = bench();
  const held = heldStep('work');
  const definition = chain('core.parallel');
  const both = {
    ...definition,
    nodes: [
      ...definition.nodes,
      ...chain('local.step.work', 'core.approvalGate').nodes.map((n) => ({ ...n, id: `b${n.id}` })),
    ],
    edges: ['bn1', 'bn2'].map((id) => ({ id: `to-${id}`, sourceNodeId: 'n1', targetNodeId: id })),
  } as WorkflowDefinition;
  const holder = node('holder', [held.step]);
  const runId = await begin(holder, both);
  const call = await held.called(1);
  const other = node('other', [held.step]);
  await other.answer({ tenant: 't', runId, nodeId: 'bn2', value: { action: 'accept' }, principal: 'ann' });
  await seen(runId, 'node.completed', 2);
  call.resolve(null);
  await seen(runId, 'run.completed');
  expect((await types(runId)).filter((type) => type === 'interrupt.resolved')).toHaveLength(1);
});

test('of two answers at once on two nodes exactly one is taken', async () => {
  const { node, begin, types } = bench();
  const [a, b] = [node('a'), node('b')];
  const runId = await begin(a, chain('core.approvalGate'));
  const answer = (engine: Engine) =>
    engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' }, principal: 'ann' });
  const results = await Promise.allSettled([answer(a), answer(b), answer(a)]);
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'interrupt_already_resolved' });
  }
  expect((await types(runId)).filter((type) => type === 'interrupt.resolved')).toHaveLength(1);
});

test('cancel ends the run at once, aborts the step and keeps its late result out', async () => {
  const { node, begin, types } = bench();
  const held = heldStep('work');
  const engine = node('a', [held.step]);
  const runId = await begin(engine, chain('local.step.work'));
  const call = await held.called(1);
  const aborted = new Promise((resolve) => call.context.signal.addEventListener('abort', resolve));
  expect(await engine.cancel({ tenant: 't', runId, reason: 'enough' })).toEqual({ status: 'cancelled' });
  await aborted;
  call.resolve('late');
  await settled();
  expect((await types(runId)).slice(-3)).toEqual(['cairn.cancel.requested', 'node.cancelled', 'run.cancelled']);
  expect(await engine.cancel({ tenant: 't', runId })).toEqual({ status: 'cancelled' });
});

test('a snapshot taken while an append is under way shows only what is durable', async () => {
  const { store, node, begin } = bench();
  const gate = Promise.withResolvers<void>();
  let hold = false;
  const slow: Store = {
    ...store,
    log: {
      ...store.log,
      append: async (append) => {
        if (hold) await gate.promise;
        return store.log.append(append);
      },
    },
  };
  const held = heldStep('work');
  const engine = node('a', [held.step], slow);
  const runId = await begin(engine, chain('local.step.work'));
  const call = await held.called(1);
  hold = true;
  call.resolve(null);
  await settled();
  const snapshot = engine.snapshot('t', runId);
  await settled();
  expect((await store.log.head(runId))?.record.status).toBe('running');
  gate.resolve();
  expect((await snapshot).status).toBe('completed');
});

test('a decision too large for an event fails the run and leaves the host working', async () => {
  const { node, begin, seen } = bench();
  const big: Step = { typeId: 'local.step.big', safety: 'read', run: async () => ({ text: 'x'.repeat(400_000) }) };
  const engine = node('a', [big]);
  const definition = chain('local.step.big', 'local.step.big', 'core.end');
  const end = present(definition.nodes[2]) as { inputs: object };
  end.inputs = {
    a: { type: 'connection', nodeId: 'n1', outputKey: 'text' },
    b: { type: 'connection', nodeId: 'n2', outputKey: 'text' },
  };
  const runId = await begin(engine, definition);
  await seen(runId, 'run.failed');
  expect((await engine.snapshot('t', runId)).error).toMatchObject({ code: 'event_too_large' });
});

test('inputs that name one large output thousands of times are no text of gigabytes', async () => {
  const { node, begin, seen } = bench();
  const big: Step = { typeId: 'local.step.big', safety: 'read', run: async () => ({ text: 'x'.repeat(400_000) }) };
  const engine = node('a', [big]);
  const definition = chain('local.step.big', 'core.identity');
  const end = present(definition.nodes[1]) as { inputs: object };
  const large = { type: 'connection', nodeId: 'n1', outputKey: 'text' };
  end.inputs = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`i${i}`, large]));
  const runId = await begin(engine, definition);
  await seen(runId, 'run.failed');
  expect((await engine.snapshot('t', runId)).error).toMatchObject({ code: 'event_too_large' });
});

test('nothing of a run stays in memory while it rests, and its timer is not forgotten', async () => {
  const { clock, node, begin, store, seen } = bench();
  const engine = node('a');
  await engine.open();
  const runId = await begin(engine, chain({ typeId: 'core.delay', config: { delayMs: 5_000 } }));
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  expect(await store.queue.due()).toBe(clock.now() + 5_000);
  clock.advance(5_000);
  await seen(runId, 'run.completed');
});

test("another tenant's run and workflow look unknown", async () => {
  const { node, begin, store } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain('core.approvalGate'));
  const unknown = { code: 'not_found' };
  await expect(engine.snapshot('u', runId)).rejects.toMatchObject(unknown);
  const other = node('b', [], { ...store, definitions: { ...store.definitions, get: async () => null } });
  const ofOwner = await other.snapshot('t', runId).catch((error: Error) => error.message);
  const ofStranger = await other.snapshot('u', runId).catch((error: Error) => error.message);
  expect(ofOwner).toContain('definition');
  expect(ofStranger).toBe(`There is no run ${runId}.`);
  await expect(engine.cancel({ tenant: 'u', runId })).rejects.toMatchObject(unknown);
  await expect(engine.answer({ tenant: 'u', runId, nodeId: 'n1', value: {} })).rejects.toMatchObject(unknown);
  await expect(engine.workflow('u', 'flow')).rejects.toMatchObject(unknown);
  const start = { tenant: 'u', workflowId: 'flow', inputs: {}, options: {} };
  await expect(engine.start(start)).rejects.toMatchObject(unknown);
});
