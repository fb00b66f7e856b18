import type { JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { bench, chain, faulty, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import type { Engine } from '../engine.ts';

const named = (id: string, definition: WorkflowDefinition, more: Partial<WorkflowDefinition> = {}) => ({
  ...definition,
  id,
  ...more,
});

const text = (name: string, defaultValue?: string) => ({
  name,
  type: 'string' as const,
  ...(defaultValue === undefined ? {} : { defaultValue }),
});

const sub = (workflowId: string, config: JsonObject = {}) => ({
  typeId: 'core.subWorkflow',
  config: { workflowId, ...config },
});

const approval = { typeId: 'core.approvalGate', config: { title: 'Go on?', actions: ['accept', 'reject'] } };

function family() {
  const world = bench();
  const register = async (engine: Engine, ...definitions: WorkflowDefinition[]) => {
    for (const definition of definitions) await engine.register('t', definition);
  };
  const child = (parent: RunId, index = 0) => `${parent}.${index}` as RunId;
  const payloads = async (runId: RunId, type: string) =>
    (await world.rows(runId)).filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);
  const status = async (engine: Engine, runId: RunId) => (await engine.snapshot('t', runId)).status;
  return { ...world, register, child, payloads, status };
}

test('a sub-workflow runs as a child in the context of its parent, and gives back what is mapped', async () => {
  const { node, begin, register, seen, child, payloads, rows } = family();
  const engine = node('a');
  await register(
    engine,
    named('kid', chain('core.noop'), { variables: [text('made', 'by kid'), text('given', 'baked')] }),
  );
  const parent = named(
    'top',
    chain(
      'core.noop',
      sub('kid', { inputMapping: { given: 'have' }, outputMapping: { got: 'made', gone: 'nothing' } }),
    ),
    {
      variables: [text('have', 'mine'), text('gone', 'untouched')],
    },
  );
  const runId = await begin(engine, parent);
  await seen(runId, 'run.completed');
  const snapshot = await engine.snapshot('t', child(runId));
  expect(snapshot).toMatchObject({ status: 'completed', parentRunId: runId, parentNodeId: 'n2' });
  expect(snapshot.variables).toMatchObject({ given: 'mine' });
  expect((await engine.snapshot('t', runId)).variables).toEqual({ have: 'mine', got: 'by kid', gone: 'untouched' });
  expect((await payloads(runId, 'node.completed')).at(-1)?.outputs).toEqual({
    childRunId: child(runId),
    childStatus: 'completed',
  });
  expect(await payloads(runId, 'node.dispatched')).toMatchObject([
    { childRunId: child(runId), childWorkflowId: 'kid' },
  ]);
  const [own, its] = [await rows(runId), await rows(child(runId))];
  expect(its[0]?.contextId).toBe(own[0]?.contextId);
});

test('a mapped variable that is not set has no value in the child, not even its default', async () => {
  const { node, begin, register, seen, child } = family();
  const engine = node('a');
  await register(engine, named('kid', chain('core.noop'), { variables: [text('given', 'baked')] }));
  const runId = await begin(
    engine,
    named('top', chain(sub('kid', { inputMapping: { given: 'have' } })), { variables: [text('have')] }),
  );
  await seen(runId, 'run.completed');
  expect((await engine.snapshot('t', child(runId))).variables).toEqual({});
});

test('a child has the caller, the tools and the scopes of the run above it, and no more time than its own', async () => {
  const { node, register, seen, child, payloads } = family();
  const engine = node('a');
  const top = named('top', chain(sub('kid')));
  await register(engine, named('kid', chain('core.noop')), top);
  const configurable = { 'cairn.tools': ['openwop:time'], escalationThreshold: 0.9, recursionLimit: 7 };
  const caller = { tenant: 't', principal: 'ann', toolScopes: ['tool:crm'] };
  const { runId } = await engine.start({ ...caller, workflowId: 'top', inputs: {}, options: { configurable } });
  await seen(runId, 'run.completed');
  const [started] = await payloads(child(runId), 'run.started');
  expect(started).toMatchObject({ owner: { tenant: 't', principal: 'ann' }, toolScopes: ['tool:crm'], depth: 1 });
  expect(started?.configurable).toEqual({ 'cairn.tools': ['openwop:time'], escalationThreshold: 0.9 });
});

describe('a child that fails', () => {
  test('fails its parent, which says who failed and why', async () => {
    const { node, begin, register, seen, payloads, child } = family();
    const engine = node('a');
    await register(engine, named('kid', chain('core.fail')));
    const runId = await begin(engine, named('top', chain(sub('kid'))));
    await seen(runId, 'run.failed');
    expect((await payloads(runId, 'run.failed'))[0]?.error).toMatchObject({
      code: 'child_failed',
      details: { childRunId: child(runId), childStatus: 'failed', childErrorCode: 'conformance_test_failure' },
    });
  });

  test('is absorbed where the node says so, and nothing is harvested', async () => {
    const { node, begin, register, seen, payloads } = family();
    const engine = node('a');
    await register(engine, named('kid', chain('core.fail'), { variables: [text('made', 'x')] }));
    const absorbing = sub('kid', { onChildFailure: 'absorb', outputMapping: { got: 'made' } });
    const runId = await begin(engine, named('top', chain(absorbing)));
    await seen(runId, 'run.completed');
    expect((await payloads(runId, 'node.completed'))[0]?.outputs).toMatchObject({ childStatus: 'failed' });
    expect(await payloads(runId, 'variable.changed')).toEqual([]);
  });
});

test('a workflow that is not there fails the node by a name of its own', async () => {
  const { node, begin, seen, payloads } = family();
  const runId = await begin(node('a'), named('top', chain(sub('nobody'))));
  await seen(runId, 'run.failed');
  expect((await payloads(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'unknown_child_workflow' });
});

test('a workflow that starts itself is stopped at the depth the host allows', async () => {
  const { node, begin, seen, payloads, child } = family();
  const engine = node('a');
  const runId = await begin(engine, named('bomb', chain(sub('bomb'))));
  await seen(runId, 'run.failed');
  let deepest = runId;
  for (let i = 0; i < 8; i++) deepest = child(deepest);
  expect((await payloads(deepest, 'run.failed'))[0]?.error).toMatchObject({ code: 'run_depth_exceeded' });
  await expect(engine.snapshot('t', child(deepest))).rejects.toThrow('There is no run');
});

describe('while its child waits', () => {
  test('a parent rests, and goes on once the child was answered', async () => {
    const { node, begin, register, seen, child, status, clock } = family();
    const engine = node('a');
    await register(engine, named('kid', chain(approval)));
    const runId = await begin(engine, named('top', chain(sub('kid'))));
    await seen(child(runId), 'node.suspended');
    clock.advance(5_000);
    await settled();
    await engine.answer({ tenant: 't', runId: child(runId), nodeId: 'n1', value: { action: 'accept' } });
    await seen(runId, 'run.completed');
    expect(await status(engine, runId)).toBe('completed');
  });

  test('a cancel of the parent reaches every run below it', async () => {
    const { node, begin, register, seen, child, payloads } = family();
    const engine = node('a');
    await register(engine, named('leaf', chain(approval)), named('kid', chain(sub('leaf'))));
    const runId = await begin(engine, named('top', chain(sub('kid'))));
    const leaf = child(child(runId));
    await seen(leaf, 'node.suspended');
    await engine.cancel({ tenant: 't', runId });
    await seen(leaf, 'run.cancelled');
    expect(await payloads(leaf, 'run.cancelled')).toMatchObject([
      { reason: 'parent-cancelled', parentRunId: child(runId) },
    ]);
    expect(await payloads(child(runId), 'run.cancelled')).toMatchObject([{ parentRunId: runId }]);
  });

  test('a child that was let go outlives its parent', async () => {
    const { node, begin, register, seen, child, status } = family();
    const engine = node('a');
    await register(engine, named('kid', chain(approval)));
    const runId = await begin(engine, named('top', chain(sub('kid', { propagateCancellation: false }))));
    await seen(child(runId), 'node.suspended');
    await engine.cancel({ tenant: 't', runId });
    await settled();
    expect(await status(engine, child(runId))).toBe('waiting-approval');
    await engine.answer({ tenant: 't', runId: child(runId), nodeId: 'n1', value: { action: 'accept' } });
    await seen(child(runId), 'run.completed');
  });
});

test('a child whose node has ended is cancelled, although its parent goes on', async () => {
  const { node, register, begin, seen, child, status, clock } = family();
  const engine = node('a');
  await register(engine, named('kid', chain(approval)));
  const top = chain({ ...sub('kid'), settings: { timeoutMs: 500 } }, approval);
  const edges = top.edges.map((edge) => ({ ...edge, triggerRule: 'all_complete' as const }));
  const runId = await begin(engine, named('top', { ...top, edges }));
  await seen(child(runId), 'node.suspended');
  clock.advance(501);
  await seen(child(runId), 'run.cancelled');
  expect(await status(engine, runId)).toBe('waiting-approval');
});

describe('a host that dies', () => {
  test('between the end of a child and its parent learning of it loses nothing', async () => {
    const { store, node, begin, register, seen, child, clock, payloads } = family();
    const held = heldStep('work');
    // Nothing more reaches the log once the child has ended.
    let ended = false;
    const dying = faulty(store, ({ rows }) => {
      if (ended) return 'fail';
      ended = rows.at(-1)?.type === 'run.completed';
      return 'pass';
    });
    const first = node('dead', [held.step], dying);
    await register(first, named('kid', chain('local.step.work')));
    const runId = await begin(first, named('top', chain(sub('kid'))));
    (await held.called(1)).resolve('done');
    await seen(child(runId), 'run.completed');
    await settled();
    expect(await payloads(runId, 'run.completed')).toEqual([]);
    const survivor = node('alive', [held.step]);
    await survivor.open();
    clock.advance(10_001);
    await seen(runId, 'run.completed');
    expect(held.calls).toHaveLength(1);
  });

  test('between the cancel of a parent and its children learning of it leaves no orphan', async () => {
    const { store, node, begin, register, seen, child, clock } = family();
    let ended = false;
    const dying = faulty(store, ({ rows }) => {
      if (ended) return 'fail';
      ended = rows.at(-1)?.type === 'run.cancelled';
      return 'pass';
    });
    const first = node('dead', [], dying);
    await register(first, named('kid', chain(approval)));
    const runId = await begin(first, named('top', chain(sub('kid'))));
    await seen(child(runId), 'node.suspended');
    await first.cancel({ tenant: 't', runId });
    const survivor = node('alive');
    await survivor.open();
    clock.advance(10_001);
    await seen(child(runId), 'run.cancelled');
  });

  test('after it asked for a child and before that is recorded starts no second one', async () => {
    const { store, node, begin, register, seen, child, clock, payloads } = family();
    let started = false;
    const dying = faulty(store, ({ rows, create }) => {
      if (started) return 'fail';
      started = create?.parentRunId !== undefined && rows.length > 0;
      return 'pass';
    });
    const first = node('dead', [], dying);
    await register(first, named('kid', chain(approval)));
    const runId = await begin(first, named('top', chain(sub('kid'))));
    await seen(child(runId), 'node.suspended');
    const survivor = node('alive');
    await survivor.open();
    clock.advance(10_001);
    await seen(runId, 'node.dispatched');
    expect((await payloads(runId, 'cairn.step.requested')).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await payloads(child(runId), 'run.started')).toHaveLength(1);
    await survivor.answer({ tenant: 't', runId: child(runId), nodeId: 'n1', value: { action: 'accept' } });
    await seen(runId, 'run.completed');
  });
});

test.each([
  [{ workflowId: 7 }, 'config.workflowId (node n1): '],
  [
    { workflowId: 'kid', waitForCompletion: false },
    'config.waitForCompletion (node n1): must be true: a node always waits',
  ],
  [
    { workflowId: 'kid', onChildFailure: 'shrug' },
    'config.onChildFailure (node n1): Invalid option: expected one of "fail-parent"|"absorb"',
  ],
  [{ workflowId: 'kid', inputMapping: { a: 1 } }, 'config.inputMapping.a (node n1): '],
  [{ workflowId: 'kid', outputMapping: ['a'] }, 'config.outputMapping (node n1): '],
  [
    { workflowId: 'kid', propagateCancellation: 'no' },
    'config.propagateCancellation (node n1): Invalid input: expected boolean',
  ],
  [{ workflowId: 'kid', colour: 'red' }, 'config.colour (node n1): is not known'],
])('a sub-workflow configured with %j is refused at registration', async (config, why) => {
  const { node } = family();
  const definition = named('top', chain({ typeId: 'core.subWorkflow', config: config as JsonObject }));
  await expect(node('a').register('t', definition)).rejects.toThrow(why);
});
