import { expect, test } from 'vitest';
import { bench, chain, faulty, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';

const delay = (delayMs: number) => ({ typeId: 'core.delay', config: { delayMs } });
const pausing = (append: Append) => append.rows.some((row) => row.type === 'cairn.pause.requested');

test('an immediate pause aborts the step, gives the lease back, and a resume runs it again', async () => {
  const { store, node, begin, seen } = bench();
  const held = heldStep('work');
  const engine = node('a', [held.step]);
  const runId = await begin(engine, chain('local.step.work'));
  const first = await held.called(1);
  const { pausedAt } = await engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  expect(pausedAt).toBe(1_000_000);
  expect(first.context.signal.aborted).toBe(true);
  expect(await store.log.head(runId)).toMatchObject({ owner: null, record: { status: 'paused' } });
  first.resolve('too late');
  await settled();
  await engine.resume({ tenant: 't', runId });
  const second = await held.called(2);
  expect([second.context.callId, second.context.attempt]).toEqual([first.context.callId, 2]);
  second.resolve('done');
  await seen(runId, 'run.completed');
});

test('a draining pause is answered at once and takes effect when the step returns', async () => {
  const { node, begin, seen, types } = bench();
  const held = heldStep('work');
  const engine = node('a', [held.step]);
  const runId = await begin(engine, chain('local.step.work', 'core.noop'));
  const call = await held.called(1);
  expect(await engine.pause({ tenant: 't', runId, drainPolicy: 'drain-current-node' })).toEqual({ pausedAt: null });
  expect(call.context.signal.aborted).toBe(false);
  call.resolve('done');
  await seen(runId, 'run.paused');
  expect((await types(runId)).slice(-2)).toEqual(['node.completed', 'run.paused']);
  await engine.resume({ tenant: 't', runId });
  await seen(runId, 'run.completed');
});

test('a paused run survives its host: nothing wakes it, and any node can resume it', async () => {
  const { store, clock, node, begin, seen, types } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain(delay(1_000), 'core.noop'));
  await engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  const other = node('b');
  await other.open();
  clock.advance(1_000_000);
  await settled();
  expect((await types(runId)).at(-1)).toBe('run.paused');
  expect(await store.queue.due()).toBeNull();
  await other.resume({ tenant: 't', runId });
  clock.advance(1_001);
  await seen(runId, 'run.completed');
});

test('a pause that was asked for is carried out by the node that takes over', async () => {
  const { clock, node, begin, seen, types } = bench();
  const lost = heldStep('work');
  const again = heldStep('work');
  const dead = node('dead', [lost.step]);
  const runId = await begin(dead, chain('local.step.work', 'core.noop'));
  await lost.called(1);
  await dead.pause({ tenant: 't', runId, drainPolicy: 'drain-current-node' });
  const survivor = node('alive', [again.step]);
  await survivor.open();
  clock.advance(10_001);
  (await again.called(1)).resolve('done');
  await seen(runId, 'run.paused');
  expect(await types(runId)).not.toContain('run.completed');
  expect((await types(runId)).filter((type) => type === 'node.started')).toHaveLength(1);
});

test('another node than the holder can ask for a pause, which the holder carries out', async () => {
  const { node, begin, seen } = bench();
  const held = heldStep('work');
  const holder = node('holder', [held.step]);
  const runId = await begin(holder, chain('local.step.work'));
  const { context } = await held.called(1);
  const other = node('other', [heldStep('work').step]);
  expect(await other.pause({ tenant: 't', runId, drainPolicy: 'immediate' })).toEqual({ pausedAt: null });
  await seen(runId, 'run.paused');
  await settled();
  expect(context.signal.aborted).toBe(true);
  await other.resume({ tenant: 't', runId });
  await seen(runId, 'cairn.step.requested', 2);
});

test('two pauses at once: one is accepted, the other meets the state it left', async () => {
  const { node, begin } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain(delay(1_000)));
  const pause = () => engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' as const });
  const results = await Promise.allSettled([pause(), pause()]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(results[1]).toMatchObject({ reason: { code: 'conflict', details: { runId } } });
});

test('a pause whose acknowledgement was lost is found in the log and answered, once', async () => {
  const { store, node, begin, types } = bench();
  let lost = false;
  const lossy = faulty(store, (append) => {
    if (lost || !pausing(append)) return 'pass';
    lost = true;
    return 'lose-answer';
  });
  const engine = node('a', [], lossy);
  const runId = await begin(engine, chain(delay(1_000)));
  expect(await engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' })).toEqual({ pausedAt: 1_000_000 });
  expect((await types(runId)).filter((type) => type === 'run.paused')).toHaveLength(1);
});

test('a pause the store refused is refused to its sender and leaves the run going', async () => {
  const { store, clock, node, begin, seen, types } = bench();
  const flaky = faulty(store, (append) => (pausing(append) ? 'fail' : 'pass'));
  const engine = node('a', [], flaky);
  await engine.open();
  const runId = await begin(engine, chain(delay(1_000)));
  const pause = engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  await expect(pause).rejects.toMatchObject({ code: 'store_failed', retryable: true });
  for (let i = 0; i < 4; i++) {
    await settled();
    clock.advance(5_000);
  }
  await seen(runId, 'run.completed');
  expect(await types(runId)).not.toContain('run.paused');
});

test("another tenant's run, and one that never was, cannot be told apart", async () => {
  const { node, begin } = bench();
  const engine = node('a');
  const runId = await begin(engine, chain(delay(1_000)));
  const unknown = `${runId}x` as typeof runId;
  for (const act of [
    (id: typeof runId) => engine.pause({ tenant: 'other', runId: id, drainPolicy: 'immediate' }),
    (id: typeof runId) => engine.resume({ tenant: 'other', runId: id }),
  ]) {
    for (const id of [runId, unknown]) await expect(act(id)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('a timer that falls due in a paused run is recorded after the resume, not with an answer before it', async () => {
  const { clock, node, begin, types, seen } = bench();
  const held = heldStep('pay', 'write');
  const engine = node('a', [held.step]);
  const runId = await begin(engine, chain({ typeId: 'local.step.pay', settings: { timeoutMs: 5_000 } }));
  await held.called(1);
  await engine.pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  clock.advance(6_000);
  await engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'use', result: 1 } });
  expect((await types(runId)).slice(-3)).toEqual(['run.paused', 'interrupt.resolved', 'node.resumed']);
  await engine.resume({ tenant: 't', runId });
  await seen(runId, 'run.completed');
  expect(await types(runId)).toContain('cairn.timer.fired');
});

/** A store at which something happens just before a fact from outside is written. */
function overtaken(store: Store, happens: () => Promise<void>): Store {
  const append = async (request: Append) => {
    if (request.claim === undefined && request.fence === undefined) await happens();
    return store.log.append(request);
  };
  return { ...store, log: { ...store.log, append } };
}

test('a pause that another node asks for just as the run begins to wait is refused with the wait', async () => {
  const { store, node, begin, seen, types } = bench();
  const held = heldStep('work');
  const holder = node('holder', [held.step]);
  const runId = await begin(holder, chain('local.step.work', 'core.approvalGate'));
  const call = await held.called(1);
  const racing = overtaken(store, async () => {
    call.resolve('done');
    await seen(runId, 'node.suspended');
  });
  const pause = node('other', [held.step], racing).pause({ tenant: 't', runId, drainPolicy: 'immediate' });
  await expect(pause).rejects.toMatchObject({ code: 'conflict', details: { runStatus: 'waiting-approval' } });
  expect(await types(runId)).not.toContain('cairn.pause.requested');
});

test('a cancel that another node asks for just as the run ends is answered with the end', async () => {
  const { store, node, begin, seen } = bench();
  const held = heldStep('work');
  const holder = node('holder', [held.step]);
  const runId = await begin(holder, chain('local.step.work'));
  const call = await held.called(1);
  const racing = overtaken(store, async () => {
    call.resolve('done');
    await seen(runId, 'run.completed');
  });
  const other = node('other', [held.step], racing);
  expect(await other.cancel({ tenant: 't', runId })).toEqual({ status: 'completed' });
});
