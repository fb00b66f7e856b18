import type { WorkflowDefinition } from '@cairn/protocol';
import { RetryableError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, faulty, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import type { Store } from '../../log/ports/store.ts';

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
  const checkpoint = await store.checkpoints.get(runId);
  expect(checkpoint?.seq).toBeGreaterThan(900);
  const again = heldStep('work');
  await node('b', [again.step]).open();
  clock.advance(10_001);
  (await again.called(1)).resolve(null);
  await seen(runId, 'run.completed');
});

test('a checkpoint of another format is ignored, and the run is folded from its log', async () => {
  const { node, begin, store, seen, clock } = bench();
  const held = heldStep('work');
  const runId = await begin(node('a', [held.step]), chain('core.noop', 'local.step.work'));
  await held.called(1);
  const seq = (await store.log.head(runId))?.seq ?? 0;
  await store.checkpoints.put({ runId, seq, format: 'run-state/1', body: '{"invocation":{"turn":null}}' });
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

test('a result that turns up after a human was asked about it does not count, whatever the human says', async () => {
  const { clock, node, begin, rows, seen, store } = bench();
  const lost = heldStep('pay', 'write');
  const again = heldStep('pay', 'write');
  let broken = false;
  const cutOff = faulty(store, () => (broken ? 'fail' : 'pass'));
  const first = node('slow', [lost.step], cutOff);
  const runId = await begin(first, chain('local.step.pay'));
  broken = true;
  (await lost.called(1)).resolve({ paid: 1 });
  const second = node('other', [again.step]);
  await second.open();
  clock.advance(10_001);
  await seen(runId, 'interrupt.requested');
  await second.close();
  broken = false;
  const answer = first.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'retry' } });
  await settled();
  clock.advance(60_000);
  await answer;
  (await lost.called(2)).resolve({ paid: 2 });
  await seen(runId, 'run.completed');
  const returned = (await rows(runId)).filter((row) => row.type === 'cairn.step.returned');
  expect(returned.map((row) => JSON.parse(row.payload).outcome)).toEqual([{ paid: 2 }]);
});

test('a request whose append was given up and landed later is performed, also when other results come first', async () => {
  const { clock, node, store, begin, seen } = bench();
  const [slow, work] = [heldStep('slow'), heldStep('work')];
  const late: (() => Promise<unknown>)[] = [];
  let givesUp = false;
  const append: Store['log']['append'] = (request) => {
    if (!givesUp) return store.log.append(request);
    givesUp = false;
    late.push(() => store.log.append(request));
    return Promise.reject(new RetryableError('store_failed', { message: 'no answer in time' }));
  };
  const definition = chain('core.parallel', 'local.step.work', 'local.step.work', 'local.step.slow');
  const edges = definition.edges.map((edge) => (edge.targetNodeId === 'n4' ? { ...edge, sourceNodeId: 'n1' } : edge));
  const engine = node('a', [slow.step, work.step], { ...store, log: { ...store.log, append } });
  const runId = await begin(engine, { ...definition, edges });
  const aside = await slow.called(1);
  givesUp = true;
  (await work.called(1)).resolve(1);
  await settled();
  await late[0]?.();
  aside.resolve(2);
  await settled();
  clock.advance(5_000);
  (await work.called(2)).resolve(3);
  await seen(runId, 'run.completed');
  expect(work.calls).toHaveLength(2);
});

test('a run that comes to rest after some hundred events leaves a checkpoint, so that reading it stays cheap', async () => {
  const { node, begin, store } = bench();
  const definition = chain({ typeId: 'core.loop', config: { times: 100 } }, 'core.noop', 'core.approvalGate');
  const edges = [
    { id: 'body', sourceNodeId: 'n1', sourceOutput: 'body', targetNodeId: 'n2' },
    { id: 'back', sourceNodeId: 'n2', targetNodeId: 'n1' },
    { id: 'done', sourceNodeId: 'n1', sourceOutput: 'done', targetNodeId: 'n3' },
  ];
  const runId = await begin(node('a'), { ...definition, edges });
  await settled();
  const head = await store.log.head(runId);
  expect(head?.record.status).toBe('waiting-approval');
  expect(await store.checkpoints.get(runId)).toMatchObject({ seq: head?.seq });
});

test('what a step does to its input is not seen by its next attempt', async () => {
  const { node, begin, seen, clock } = bench();
  const held = heldStep('work');
  const definition = chain({
    typeId: 'local.step.work',
    config: { list: [1] },
    settings: { retry: { maxRetries: 1 } },
  });
  const engine = node('a', [held.step]);
  await engine.open();
  const runId = await begin(engine, definition);
  const first = await held.called(1);
  (first.input.list as number[]).push(2);
  first.reject(new Error('try again'));
  await seen(runId, 'node.retried');
  clock.advance(60_000);
  const second = await held.called(2);
  expect(second.input).toEqual({ list: [1] });
  second.resolve(null);
  await seen(runId, 'run.completed');
});
