import { hash } from 'node:crypto';
import type { Json, JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { RetryableError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/kit/virtual-clock.ts';
import { memoryStore } from '../log/memory.ts';
import type { Append, Row, Store } from '../log/port.ts';
import type { Engine } from './engine.ts';
import type { Step, StepContext, StepSafety } from './ports.ts';
import { createEngine } from './runtime.ts';

/** A step whose calls wait until the test lets them go. */
function heldStep(name: string, safety: StepSafety = 'read') {
  const calls: { input: JsonObject; context: StepContext; resolve(value: Json): void; reject(error: unknown): void }[] =
    [];
  const waiting: (() => void)[] = [];
  const step: Step = {
    typeId: `local.step.${name}`,
    safety,
    run: (input, context) =>
      new Promise((resolve, reject) => {
        calls.push({ input, context, resolve, reject });
        for (const wake of waiting.splice(0)) wake();
      }),
  };
  const called = async (count: number) => {
    while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return calls[count - 1]!;
  };
  return { step, calls, called };
}

function chain(...typeIds: readonly (string | { typeId: string; config?: JsonObject; settings?: JsonObject })[]) {
  const nodes = typeIds.map((entry, i) => {
    const { typeId, config = {}, settings } = typeof entry === 'string' ? { typeId: entry } : entry;
    const node = { id: `n${i + 1}`, typeId, name: `n${i + 1}`, position: { x: i, y: 0 }, config, inputs: {} };
    return settings === undefined ? node : { ...node, settings };
  });
  const edges = nodes.slice(1).map((node, i) => ({
    id: `e${i + 1}`,
    sourceNodeId: nodes[i]!.id,
    targetNodeId: node.id,
  }));
  return {
    id: 'flow',
    name: 'flow',
    version: '1',
    nodes,
    edges,
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  } as unknown as WorkflowDefinition;
}

interface Bench {
  readonly store: Store;
  readonly clock: VirtualClock;
  node(owner: string, steps?: readonly Step[], over?: Store): Engine;
  begin(engine: Engine, definition: WorkflowDefinition): Promise<RunId>;
  rows(runId: RunId): Promise<readonly Row[]>;
  types(runId: RunId): Promise<readonly string[]>;
  /** Resolves once the run has a row of this type. */
  seen(runId: RunId, type: string, count?: number): Promise<void>;
}

function bench(store: Store = memoryStore()): Bench {
  const clock = new VirtualClock(1_000_000);
  let ids = 0;
  const rows = (runId: RunId) => store.log.read({ runId, after: -1, limit: 100_000 });
  const types = async (runId: RunId) => (await rows(runId)).map((row) => row.type);
  return {
    store,
    clock,
    rows,
    types,
    node: (owner, steps = [], over = store) =>
      createEngine({
        store: over,
        clock,
        uniqueId: () => String(++ids),
        sha256: (text, encoding) => hash('sha256', text, encoding),
        owner,
        steps,
        limits: { maxNodeExecutions: 1_000, maxRunDurationMs: null },
        report: () => undefined,
        leaseMs: 10_000,
      }),
    async begin(engine, definition) {
      await engine.register('t', definition);
      const { runId } = await engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
      return runId;
    },
    async seen(runId, type, count = 1) {
      const there = async () => (await types(runId)).filter((seen) => seen === type).length >= count;
      const found = Promise.withResolvers<void>();
      const stop = store.log.follow(() => void there().then((yes) => yes && found.resolve()));
      if (!(await there())) await found.promise;
      stop();
    },
  };
}

/** All that can happen without time passing or a step returning has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

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

test('a node that takes over a dead one runs a read step again with the same call id and the next attempt', async () => {
  const { clock, node, begin, rows, seen } = bench();
  const lost = heldStep('work');
  const again = heldStep('work');
  const runId = await begin(node('dead', [lost.step]), chain('local.step.work'));
  const first = await lost.called(1);
  const survivor = node('alive', [again.step]);
  await survivor.open();
  expect(again.calls).toHaveLength(0);
  clock.advance(10_001);
  const second = await again.called(1);
  expect(second.context.callId).toBe(first.context.callId);
  expect(second.context.idempotencyKey).toBe(first.context.idempotencyKey);
  expect([first.context.attempt, second.context.attempt]).toEqual([1, 2]);
  second.resolve('done');
  await seen(runId, 'run.completed');
  first.resolve('too late');
  await settled();
  const returned = (await rows(runId)).filter((row) => row.type === 'cairn.step.returned');
  expect(returned.map((row) => JSON.parse(row.payload).attempt)).toEqual([2]);
});

test.for([
  ['retry', { action: 'retry' }, 1, 'completed'],
  ['use', { action: 'use', result: { paid: true } }, 0, 'completed'],
  ['fail', { action: 'fail' }, 0, 'failed'],
] as const)(
  'a write step that was interrupted waits for a human, who may say %s',
  async ([, value, entered, status]) => {
    const { clock, node, begin, seen } = bench();
    const lost = heldStep('pay', 'write');
    const again = heldStep('pay', 'write');
    const runId = await begin(node('dead', [lost.step]), chain('local.step.pay'));
    await lost.called(1);
    const survivor = node('alive', [again.step]);
    await survivor.open();
    clock.advance(10_001);
    await seen(runId, 'interrupt.requested');
    expect(again.calls).toHaveLength(0);
    await survivor.answer({ tenant: 't', runId, nodeId: 'n1', value, principal: 'ann' });
    if (entered > 0) (await again.called(1)).resolve({ paid: true });
    await seen(runId, `run.${status}`);
    expect(again.calls).toHaveLength(entered);
  },
);

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

test('a delay survives its process: another node fires the timer when it is due', async () => {
  const { clock, node, begin, types, seen } = bench();
  const runId = await begin(node('a'), chain({ typeId: 'core.delay', config: { delayMs: 60_000 } }));
  const other = node('b');
  await other.open();
  clock.advance(59_999);
  await settled();
  expect((await types(runId)).at(-1)).toBe('cairn.timer.set');
  clock.advance(1_001);
  await seen(runId, 'run.completed');
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

/** Lets the test decide what becomes of each append. */
function faulty(store: Store, fault: (append: Append) => 'pass' | 'fail' | 'lose-answer'): Store {
  const append = async (request: Append) => {
    const what = fault(request);
    if (what === 'fail') throw new RetryableError('store_failed', { message: 'no' });
    const appended = await store.log.append(request);
    if (what === 'lose-answer') throw new RetryableError('store_failed', { message: 'lost' });
    return appended;
  };
  return { ...store, log: { ...store.log, append } };
}

test('a start whose acknowledgement was lost is found in the log and answered as started, once', async () => {
  const { store, node, begin, types, seen } = bench();
  const held = heldStep('work');
  let first = true;
  const lossy = faulty(store, () => {
    const what = first ? 'lose-answer' : 'pass';
    first = false;
    return what;
  });
  const runId = await begin(node('a', [held.step], lossy), chain('local.step.work'));
  (await held.called(1)).resolve(null);
  await seen(runId, 'run.completed');
  expect((await types(runId)).filter((type) => type === 'cairn.step.requested')).toHaveLength(1);
  expect(held.calls).toHaveLength(1);
});

test('a result that could not be written is written when the store is back, without running the step again', async () => {
  const { store, clock, node, begin, seen } = bench();
  const held = heldStep('work');
  let failures = 0;
  const flaky = faulty(store, (append) => {
    const isResult = append.rows.some((row) => row.type === 'cairn.step.returned');
    return isResult && failures++ < 3 ? 'fail' : 'pass';
  });
  const runId = await begin(node('a', [held.step], flaky), chain('local.step.work'));
  (await held.called(1)).resolve({ n: 1 });
  for (let i = 0; i < 4; i++) {
    await settled();
    clock.advance(5_000);
  }
  await seen(runId, 'run.completed');
  expect(failures).toBe(4);
  expect(held.calls).toHaveLength(1);
});

test('an answer the store refused is refused to its sender, and can be sent again', async () => {
  const { store, clock, node, begin } = bench();
  let broken = false;
  const flaky = faulty(store, () => (broken ? 'fail' : 'pass'));
  const engine = node('a', [], flaky);
  const runId = await begin(engine, chain('core.approvalGate'));
  broken = true;
  const answer = () => engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' } });
  await expect(answer()).rejects.toMatchObject({ code: 'store_failed' });
  broken = false;
  clock.advance(60_000);
  await settled();
  expect(await answer()).toEqual({ nodeId: 'n1', status: 'completed' });
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
  const end = definition.nodes[2]! as { inputs: object };
  end.inputs = {
    a: { type: 'connection', nodeId: 'n1', outputKey: 'text' },
    b: { type: 'connection', nodeId: 'n2', outputKey: 'text' },
  };
  const runId = await begin(engine, definition);
  await seen(runId, 'run.failed');
  expect((await engine.snapshot('t', runId)).error).toMatchObject({ code: 'event_too_large' });
});

test('nothing of a run stays in memory while it rests, and its timer is not forgotten', async () => {
  const { clock, node, begin, store, seen } = bench();
  const engine = node('a');
  await engine.open();
  const runId = await begin(engine, chain({ typeId: 'core.delay', config: { delayMs: 500 } }));
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  expect(await store.queue.due()).toBe(clock.now() + 500);
  clock.advance(500);
  await seen(runId, 'run.completed');
});

test('a closed engine gives its runs back, and the next one goes on at once', async () => {
  const { node, begin, seen, store } = bench();
  const [one, two] = [heldStep('work'), heldStep('work')];
  const first = node('a', [one.step]);
  const runId = await begin(first, chain('local.step.work'));
  await one.called(1);
  await first.close();
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  const second = node('b', [two.step]);
  await second.open();
  (await two.called(1)).resolve(null);
  await seen(runId, 'run.completed');
});

test("another tenant's run and workflow look unknown", async () => {
  const { node, begin } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain('core.approvalGate'));
  const unknown = { code: 'not_found' };
  await expect(engine.snapshot('u', runId)).rejects.toMatchObject(unknown);
  await expect(engine.cancel({ tenant: 'u', runId })).rejects.toMatchObject(unknown);
  await expect(engine.answer({ tenant: 'u', runId, nodeId: 'n1', value: {} })).rejects.toMatchObject(unknown);
  await expect(engine.workflow('u', 'flow')).rejects.toMatchObject(unknown);
  const start = { tenant: 'u', workflowId: 'flow', inputs: {}, options: {} };
  await expect(engine.start(start)).rejects.toMatchObject(unknown);
});

test('a long run goes on from its checkpoint after a restart', async () => {
  const { node, begin, store, seen, clock } = bench();
  const held = heldStep('work');
  const definition = chain({ typeId: 'core.loop', config: { times: 400 } }, 'core.noop', 'local.step.work');
  const looped = {
    ...definition,
    edges: [
      { id: 'body', sourceNodeId: 'n1', sourceOutput: 'body', targetNodeId: 'n2' },
      { id: 'back', sourceNodeId: 'n2', targetNodeId: 'n1' },
      { id: 'done', sourceNodeId: 'n1', sourceOutput: 'done', targetNodeId: 'n3' },
    ],
  } as WorkflowDefinition;
  const runId = await begin(node('a', [held.step]), looped);
  await held.called(1);
  const checkpoint = await store.records.checkpoint(runId);
  expect(checkpoint?.seq).toBeGreaterThan(900);
  const again = heldStep('work');
  await node('b', [again.step]).open();
  clock.advance(10_001);
  (await again.called(1)).resolve(null);
  await seen(runId, 'run.completed');
});

test('a takeover whose first append fails still asks before it repeats a write step', async () => {
  const { store, clock, node, begin, seen } = bench();
  const lost = heldStep('pay', 'write');
  const again = heldStep('pay', 'write');
  const runId = await begin(node('dead', [lost.step]), chain('local.step.pay'));
  await lost.called(1);
  let failures = 0;
  const flaky = faulty(store, () => (failures++ < 2 ? 'fail' : 'pass'));
  await node('alive', [again.step], flaky).open();
  clock.advance(10_001);
  for (let i = 0; i < 4; i++) {
    await settled();
    clock.advance(1_000);
  }
  await seen(runId, 'interrupt.requested');
  expect(again.calls).toHaveLength(0);
});
