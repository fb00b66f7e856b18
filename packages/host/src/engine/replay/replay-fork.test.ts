import type { ContextId, RunId, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { bench, chain, faulty, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import { present } from '../../../test/kit/present.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';

const shown = ({ type, nodeId, payload }: Row) => [type, nodeId, payload];

/** A recorded run with a step, a gate, a delay and a second step. */
async function recorded(more: { readonly stopsAt?: string } = {}) {
  const world = bench();
  const first = heldStep('first');
  const second = heldStep('second', 'write');
  const engine = world.node('a', [first.step, second.step]);
  const definition = chain(
    'local.step.first',
    'core.approvalGate',
    { typeId: 'core.delay', config: { delayMs: 500 } },
    'local.step.second',
  );
  const runId = await world.begin(engine, definition);
  (await first.called(1)).resolve({ n: 1 });
  if (more.stopsAt !== 'gate') {
    await world.seen(runId, 'node.suspended');
    await engine.answer({ tenant: 't', runId, nodeId: 'n2', value: { action: 'accept' }, principal: 'ann' });
    await world.seen(runId, 'cairn.timer.set');
    world.clock.advance(600);
    const call = await second.called(1);
    if (more.stopsAt !== 'second') {
      call.resolve({ done: true });
      await world.seen(runId, 'run.completed');
    }
  } else await world.seen(runId, 'node.suspended');
  await engine.close();
  const calls = () => first.calls.length + second.calls.length;
  return { ...world, runId, definition, steps: [first.step, second.step], calls, before: calls() };
}

type Recorded = Awaited<ReturnType<typeof recorded>>;

let forks = 0;

async function replayed(
  { store, node, clock, steps, runId, seen, rows, over = store }: Recorded & { readonly over?: Store },
  fromSeq: number,
  until = 'run.completed',
) {
  const fork = `run_fork${++forks}` as RunId;
  await store.log.fork({
    runId: fork,
    tenant: 't',
    contextId: `ctx_fork${forks}` as ContextId,
    originRunId: present(await store.log.head(runId)).record.originRunId,
    fork: { sourceRunId: runId, fromSeq, mode: 'replay' },
    at: clock.now(),
  });
  const engine = node(`replayer${forks}`, steps, over);
  await engine.open();
  await seen(fork, until);
  await settled();
  await engine.close();
  return rows(fork);
}

/** The record as a run of another definition: what the present code knows has changed since. */
async function changeDefinition(
  { store, runId }: Recorded,
  change: (definition: WorkflowDefinition) => WorkflowDefinition,
) {
  const head = present(await store.log.head(runId));
  const hash = head.record.definitionHash;
  const body = JSON.parse(present(await store.definitions.get(hash)));
  const get = store.definitions.get;
  Object.assign(store.definitions, {
    get: async (key: string) => (key === hash ? JSON.stringify(change(body)) : get(key)),
  });
}

const withNode = (definition: WorkflowDefinition, id: string, change: object): WorkflowDefinition => ({
  ...definition,
  nodes: definition.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)),
});

describe('a replay of an unchanged run', () => {
  test('repeats every event from any event on, and performs nothing', async () => {
    const world = await recorded();
    const source = await world.rows(world.runId);
    for (let fromSeq = 0; fromSeq < source.length; fromSeq += 1) {
      const own = await replayed(world, fromSeq);
      expect(own.map(shown)).toEqual(source.map(shown));
      expect(own.map(({ at, cause, hash }) => [at, cause, hash])).toEqual(
        source.map(({ at, cause, hash }) => [at, cause, hash]),
      );
    }
    expect(world.calls()).toBe(world.before);
    expect(await world.rows(world.runId)).toEqual(source);
  });

  test.each(['fail', 'lose-answer'] as const)('repeats every event although appends %s', async (fault) => {
    const world = await recorded();
    let appends = 0;
    const over = faulty(world.store, ({ runId }) =>
      runId.startsWith('run_fork') && ++appends % 2 === 1 ? fault : 'pass',
    );
    const own = replayed({ ...world, over }, 3);
    for (let i = 0; i < 50; i += 1) {
      await settled();
      world.clock.advance(1_000);
    }
    expect((await own).map(shown)).toEqual((await world.rows(world.runId)).map(shown));
    expect(world.calls()).toBe(world.before);
  });

  test('repeats a replay', async () => {
    const world = await recorded();
    const first = await replayed(world, 4);
    const second = await replayed({ ...world, runId: present(first[0]).runId }, 9);
    expect(second.map(shown)).toEqual(first.map(shown));
  });
});

describe('a replay of a run that has not ended', () => {
  test('fails the node whose result is not in the record', async () => {
    const world = await recorded({ stopsAt: 'second' });
    const own = await replayed(world, 0, 'run.failed');
    const failed = present(own.find(({ type }) => type === 'node.failed'));
    expect(failed.nodeId).toBe('n4');
    expect(JSON.parse(failed.payload).error).toMatchObject({ code: 'replay_source_missing', retryable: false });
    expect(own.map(({ type }) => type)).not.toContain('replay.diverged');
    expect(world.calls()).toBe(world.before);
  });

  test('fails the node whose question nobody has answered, and asks nobody', async () => {
    const world = await recorded({ stopsAt: 'gate' });
    const own = await replayed(world, 0, 'run.failed');
    expect(JSON.parse(present(own.find(({ type }) => type === 'node.failed')).payload).error.code).toBe(
      'replay_source_missing',
    );
    const open = await world.store.runIndex.list({ tenant: 't', limit: 10 });
    expect(open.runs.find(({ runId }) => runId.startsWith('run_fork'))?.status).toBe('failed');
  });
});

describe('a replay after a change', () => {
  test('says where it differs once, goes on with the recorded results, and is the same each time', async () => {
    const world = await recorded();
    await changeDefinition(world, (definition) => withNode(definition, 'n3', { config: { delayMs: 900 } }));
    const source = await world.rows(world.runId);
    const own = await replayed(world, 0);
    const news = own.filter(({ type }) => type === 'replay.diverged');
    const set = present(source.find(({ type }) => type === 'cairn.timer.set'));
    expect(news.map(({ payload }) => JSON.parse(payload))).toEqual([
      {
        sourceRunId: world.runId,
        atSequence: set.seq,
        originalEventId: `${world.runId}:${set.seq}`,
        divergenceKind: 'output',
        divergencePoint: 'cairn.timer.set',
      },
    ]);
    expect(own.at(-1)?.type).toBe('run.completed');
    expect(world.calls()).toBe(world.before);
    const twice = await replayed(world, 0);
    expect(twice.map(shown)).toEqual(own.map(shown));
  });

  test('fails a node that asks for what was never recorded', async () => {
    const world = await recorded();
    await changeDefinition(world, (definition) =>
      withNode(definition, 'n3', { typeId: 'local.step.first', config: {} }),
    );
    const own = await replayed(world, 0, 'run.failed');
    expect(own.map(({ type }) => type)).toContain('replay.diverged');
    const failed = present(own.find(({ type }) => type === 'node.failed'));
    expect([failed.nodeId, JSON.parse(failed.payload).error.code]).toEqual(['n3', 'replay_source_missing']);
    expect(world.calls()).toBe(world.before);
  });
});

test('a cancelled replay ends, and stops to follow its record', async () => {
  const world = await recorded();
  const fork = 'run_cancelled' as RunId;
  const { runId, store, clock } = world;
  const contextId = 'ctx_cancelled' as ContextId;
  await store.log.fork({
    ...{ runId: fork, tenant: 't', contextId, originRunId: runId, at: clock.now() },
    fork: { sourceRunId: runId, fromSeq: 3, mode: 'replay' },
  });
  const engine = world.node('replayer', world.steps);
  await engine.cancel({ tenant: 't', runId: fork, principal: 'ann' });
  await world.seen(fork, 'run.cancelled');
  await engine.close();
  expect(world.calls()).toBe(world.before);
});
