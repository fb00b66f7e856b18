import { hash } from 'node:crypto';
import type { Json, JsonObject, OrchestratorDecision, RunId, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { heldStep } from '../../../test/kit/engine-bench.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { defineWorkflow } from '../../engine/define-workflow.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import type { Step } from '../../engine/ports.ts';
import { createEngine } from '../../engine/runtime.ts';
import { memoryStore } from '../../log/memory.ts';
import { benchWorld } from '../loop/agent-bench.contract.ts';
import { createSupervisor } from './supervisor.ts';

const worker = (id: string, nodes: Parameters<typeof defineWorkflow>[0]['nodes'], made?: string) =>
  defineWorkflow({
    id,
    version: '1',
    nodes,
    variables: made === undefined ? {} : { made: { type: 'string', defaultValue: made } },
  });

const noop = (id: string, made?: string) => worker(id, { a: { type: 'core.noop' } }, made);

/** A supervisor with this plan, and a dispatch node that leads back to it. */
const crew = (
  plan: readonly OrchestratorDecision[],
  config: JsonObject = {},
  more: Partial<WorkflowDefinition> = {},
) => ({
  ...defineWorkflow({
    id: 'conformance-crew',
    version: '1',
    nodes: {
      boss: { type: 'core.orchestrator.supervisor', config: { mockDispatchPlan: plan as unknown as Json } },
      dispatch: { type: 'core.dispatch', config },
    },
    edges: [
      { from: 'boss', to: 'dispatch' },
      { from: 'dispatch', to: 'boss' },
    ],
  }),
  ...more,
});

const send = (...nextWorkerIds: string[]): OrchestratorDecision => ({ kind: 'next-worker', nextWorkerIds });
const over: OrchestratorDecision = { kind: 'terminate', reason: 'goal-reached' };

async function world(
  definition: WorkflowDefinition,
  workers: readonly WorkflowDefinition[],
  steps: readonly Step[] = [],
) {
  const store = memoryStore();
  let ids = 0;
  const clock = new VirtualClock(1_000_000);
  const engine = createEngine({
    store,
    clock,
    uniqueId: () => String(++ids),
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: 'a',
    steps,
    nodeTypes: [createSupervisor(benchWorld()), dispatch],
    limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
    report: () => undefined,
  });
  for (const one of [definition, ...workers]) await engine.register('t', one);
  const rows = (runId: RunId) => store.log.read({ runId, after: -1, limit: 10_000 });
  const of = async (runId: RunId, type: string) =>
    (await rows(runId)).filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);
  const until = async (runId: RunId, type: string) => {
    while (!(await rows(runId)).some((row) => row.type === type)) await new Promise((next) => setImmediate(next));
  };
  const start = async (configurable?: JsonObject) =>
    (await engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: { configurable } })).runId;
  return { engine, clock, rows, of, until, start };
}

const child = (runId: RunId, index: number) => `${runId}.${index}` as RunId;

test('a supervisor decides, a dispatch carries it out, and the chain of its events is caused one by the other', async () => {
  const { start, until, rows, of } = await world(
    crew(
      [send('kid'), over],
      { outputMapping: { result: 'made' } },
      { variables: [{ name: 'result', type: 'string' }] },
    ),
    [noop('kid', 'work')],
  );
  const runId = await start();
  await until(runId, 'run.completed');
  expect((await of(runId, 'run.completed'))[0]).toMatchObject({ reason: 'goal-reached' });
  expect((await of(runId, 'runOrchestrator.decided')).map(({ decision }) => (decision as JsonObject).kind)).toEqual([
    'next-worker',
    'terminate',
  ]);
  const all = await rows(runId);
  const chain = all.filter(({ type }) => type === 'core.workflowChain.event');
  expect(chain.map(({ payload }) => (JSON.parse(payload) as JsonObject).phase)).toEqual([
    'dispatch.began',
    'dispatch.succeeded',
    'child.completed',
    'output.harvested',
  ]);
  const decided = all.find(({ type }) => type === 'runOrchestrator.decided');
  expect(chain.map(({ cause }) => cause)).toEqual([decided?.seq, chain[0]?.seq, chain[1]?.seq, chain[2]?.seq]);
  expect(JSON.parse(chain[3]?.payload ?? '{}')).toMatchObject({
    harvestedKeys: ['result'],
    childRunId: child(runId, 0),
  });
  expect(all.find(({ type }) => type === 'node.dispatched')?.cause).toBe(decided?.seq);
});

test('with nothing scripted a supervisor of a conformance workflow sends one worker and ends', async () => {
  const { start, until, of } = await world(crew([], {}), [noop('conformance-noop')]);
  const runId = await start();
  await until(runId, 'run.completed');
  expect((await of(runId, 'runOrchestrator.decided')).map(({ decision }) => (decision as JsonObject).kind)).toEqual([
    'terminate',
  ]);
  const bare = crew([]);
  const boss = { ...bare.nodes[0], config: {} } as (typeof bare.nodes)[number];
  const again = await world({ ...bare, nodes: [boss, ...bare.nodes.slice(1)] }, [noop('conformance-noop')]);
  const other = await again.start();
  await again.until(other, 'run.completed');
  expect(
    (await again.of(other, 'runOrchestrator.decided')).map(({ decision }) => (decision as JsonObject).kind),
  ).toEqual(['next-worker', 'terminate']);
});

describe('workers one after the other', () => {
  test('give on what the one before has made', async () => {
    const { engine, start, until } = await world(
      crew(
        [send('first', 'second'), over],
        {
          perWorkerOutputMappings: { first: { shared: 'made' } },
          perWorkerInputMappings: { second: { given: 'shared' } },
        },
        { variables: [{ name: 'shared', type: 'string', defaultValue: '' }] },
      ),
      [noop('first', 'hello'), noop('second')],
    );
    const runId = await start();
    await until(runId, 'run.completed');
    expect((await engine.snapshot('t', child(runId, 1))).variables).toMatchObject({ given: 'hello' });
  });

  test('stop at the one that fails, and nothing is harvested of it', async () => {
    const failing = worker('first', { a: { type: 'core.fail' } }, 'x');
    const { start, until, of } = await world(
      crew([send('first', 'second'), over], { outputMapping: { out: 'made' } }),
      [failing, noop('second')],
    );
    const runId = await start();
    await until(runId, 'run.failed');
    expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'child_failed' });
    const phases = (await of(runId, 'core.workflowChain.event')).map(({ phase }) => phase);
    expect(phases).toEqual(['dispatch.began', 'dispatch.succeeded', 'child.failed']);
  });

  test('go on past one that fails where the node absorbs that', async () => {
    const failing = worker('first', { a: { type: 'core.fail' } });
    const { start, until, of } = await world(crew([send('first', 'second'), over], { onChildFailure: 'absorb' }), [
      failing,
      noop('second'),
    ]);
    const runId = await start();
    await until(runId, 'run.completed');
    const ends = (await of(runId, 'core.workflowChain.event'))
      .map(({ phase }) => phase)
      .filter((p) => `${p}`.startsWith('child'));
    expect(ends).toEqual(['child.failed', 'child.completed']);
  });

  test('that are not there fail the dispatch, with one row that says so', async () => {
    const { start, until, of } = await world(crew([send('nobody'), over]), []);
    const runId = await start();
    await until(runId, 'run.failed');
    const chain = await of(runId, 'core.workflowChain.event');
    expect(chain.map(({ phase }) => phase)).toEqual(['dispatch.began', 'dispatch.failed']);
    expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'unknown_child_workflow' });
  });
});

describe('workers side by side', () => {
  const slow = (name: string) => worker(name, { a: { type: `local.step.${name}` } }, name);
  const merging = { fanOutPolicy: 'parallel', outputMapping: { out: 'made' } };

  test('are merged in the order in which they were named, whoever is quicker', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const plan = [send('one', 'two'), over];
    const { start, until, of, engine } = await world(
      crew(plan, merging),
      [slow('one'), slow('two')],
      [one.step, two.step],
    );
    const runId = await start();
    (await two.called(1)).resolve(null);
    await until(child(runId, 1), 'run.completed');
    (await one.called(1)).resolve(null);
    await until(runId, 'run.completed');
    expect((await engine.snapshot('t', runId)).variables).toMatchObject({ out: 'two' });
    const outputs = (await of(runId, 'node.completed')).find(({ nodeId }) => nodeId === 'dispatch')?.outputs;
    expect(outputs).toMatchObject({ joinOutcome: 'satisfied', mergeOrder: ['one', 'two'] });
  });

  test('of which one is enough end with it, and the others are cancelled', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const config = { ...merging, joinPolicy: 'any' };
    const { start, until, of } = await world(
      crew([send('one', 'two'), over], config),
      [slow('one'), slow('two')],
      [one.step, two.step],
    );
    const runId = await start();
    await one.called(1);
    (await two.called(1)).resolve(null);
    await until(runId, 'run.completed');
    await until(child(runId, 0), 'run.cancelled');
    expect((await of(child(runId, 0), 'run.cancelled'))[0]).toMatchObject({ reason: 'parent-cancelled' });
  });

  test('that must all complete fail with the first that does not, and the others are cancelled', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const { start, until } = await world(
      crew([send('one', 'two'), over], merging),
      [slow('one'), slow('two')],
      [one.step, two.step],
    );
    const runId = await start();
    await one.called(1);
    (await two.called(1)).reject(new Error('no'));
    await until(runId, 'run.failed');
    await until(child(runId, 0), 'run.cancelled');
  });

  test('that are only waited for give back what there is', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const config = { ...merging, joinPolicy: 'settled' };
    const { start, until, of } = await world(
      crew([send('one', 'two'), over], config),
      [slow('one'), slow('two')],
      [one.step, two.step],
    );
    const runId = await start();
    (await one.called(1)).reject(new Error('no'));
    (await two.called(1)).resolve(null);
    await until(runId, 'run.completed');
    const outputs = (await of(runId, 'node.completed')).find(({ nodeId }) => nodeId === 'dispatch')?.outputs;
    expect(outputs).toMatchObject({ joinOutcome: 'partial', mergeOrder: ['two'] });
  });

  test('are refused where the node takes one at a time', async () => {
    const { start, until, of } = await world(crew([send('one', 'two')], { fanOutPolicy: 'reject' }), []);
    const runId = await start();
    await until(runId, 'run.failed');
    expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'fan_out_unsupported' });
  });
});

describe('a decision that is too unsure', () => {
  const unsure: OrchestratorDecision = { ...send('kid'), confidence: 0.3 } as OrchestratorDecision;

  test('is held before anything is done about it, and carried out once a person accepts', async () => {
    const { start, until, of, engine } = await world(crew([unsure, over]), [noop('kid')]);
    const runId = await start();
    await until(runId, 'node.suspended');
    expect((await engine.snapshot('t', runId)).status).toBe('waiting-approval');
    expect(await of(runId, 'core.workflowChain.confidence-escalated')).toMatchObject([
      { confidence: 0.3, floor: 0.5, escalationKind: 'escalate', workerId: 'kid', originalDecision: unsure },
    ]);
    expect(await of(runId, 'core.workflowChain.event')).toEqual([]);
    await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value: { action: 'accept' } });
    await until(runId, 'run.completed');
    expect(await of(runId, 'core.workflowChain.confidence-escalated')).toHaveLength(1);
  });

  test('may be edited by the person who looks at it', async () => {
    const { start, until, of, engine } = await world(crew([unsure, over]), [noop('other')]);
    const runId = await start();
    await until(runId, 'node.suspended');
    const value = { action: 'edit-accept', editedArtifactData: send('other') as unknown as JsonObject };
    await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value });
    await until(runId, 'run.completed');
    expect((await of(runId, 'node.dispatched'))[0]).toMatchObject({ childWorkflowId: 'other' });
  });

  test('fails the run when it is rejected', async () => {
    const { start, until, of, engine } = await world(crew([unsure, over]), [noop('kid')]);
    const runId = await start();
    await until(runId, 'node.suspended');
    await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value: { action: 'reject' } });
    await until(runId, 'run.failed');
    expect(await of(runId, 'core.workflowChain.event')).toEqual([]);
  });

  test('is carried out at the floor itself', async () => {
    const { start, until, of } = await world(
      crew([{ ...send('kid'), confidence: 0.5 } as OrchestratorDecision, over]),
      [noop('kid')],
    );
    const runId = await start();
    await until(runId, 'run.completed');
    expect(await of(runId, 'core.workflowChain.confidence-escalated')).toEqual([]);
  });
});

test('a supervisor whose agent is not sure enough decides nothing until a person has looked', async () => {
  const definition = crew([]);
  const config = { mockConfidence: 0.5, mockPendingDecision: over as unknown as Json };
  const boss = { ...definition.nodes[0], config } as (typeof definition.nodes)[number];
  const { start, until, of, engine } = await world({ ...definition, nodes: [boss, ...definition.nodes.slice(1)] }, []);
  const runId = await start();
  await until(runId, 'node.suspended');
  expect(await of(runId, 'runOrchestrator.decided')).toEqual([]);
  expect((await of(runId, 'node.suspended'))[0]).toMatchObject({
    reason: 'low-confidence',
    threshold: 0.7,
    observed: 0.5,
  });
  await engine.answer({ tenant: 't', runId, nodeId: 'boss', value: { action: 'approve' } });
  await until(runId, 'run.completed');
  expect(await of(runId, 'runOrchestrator.decided')).toHaveLength(1);
});

test('a question of the supervisor is asked, and its answer is what the dispatch puts out', async () => {
  const { start, until, of, engine } = await world(crew([{ kind: 'ask-user', prompt: 'Which colour?' }, over]), []);
  const runId = await start();
  await until(runId, 'node.suspended');
  expect((await of(runId, 'clarification.requested'))[0]).toMatchObject({ questions: [{ question: 'Which colour?' }] });
  await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value: { answers: { answer: 'blue' } } });
  await until(runId, 'run.completed');
  const outputs = (await of(runId, 'node.completed')).find(({ nodeId }) => nodeId === 'dispatch')?.outputs;
  expect(outputs).toEqual({ answer: 'blue' });
});

describe('limits', () => {
  test('on dispatches end a loop that goes on', async () => {
    const { start, until, of } = await world(crew([send('kid'), send('kid'), send('kid')], { iterationCap: 2 }), [
      noop('kid'),
    ]);
    const runId = await start();
    await until(runId, 'run.failed');
    expect(await of(runId, 'cap.breached')).toMatchObject([{ kind: 'dispatch-iterations', limit: 2, observed: 3 }]);
    expect(await of(runId, 'node.dispatched')).toHaveLength(2);
  });

  test('on decisions end it before the next one', async () => {
    const { start, until, of } = await world(crew([send('kid'), send('kid'), send('kid')]), [noop('kid')]);
    const runId = await start({ maxLoopIterations: 2 });
    await until(runId, 'run.failed');
    expect(await of(runId, 'runOrchestrator.decided')).toHaveLength(2);
    expect(await of(runId, 'cap.breached')).toMatchObject([{ kind: 'loop-iterations', limit: 2, observed: 3 }]);
  });
});

test('a dispatch without a decision fails by its own name', async () => {
  const lone = defineWorkflow({ id: 'conformance-lone', version: '1', nodes: { d: { type: 'core.dispatch' } } });
  const { start, until, of } = await world(lone, []);
  const runId = await start();
  await until(runId, 'run.failed');
  expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'no_pending_decision' });
});

test('a decision of another supervisor than the first is refused', async () => {
  const two = defineWorkflow({
    id: 'conformance-two',
    version: '1',
    nodes: {
      first: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [send('kid') as unknown as Json] } },
      second: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [send('kid') as unknown as Json] } },
    },
  });
  const { start, until, of } = await world(two, []);
  const runId = await start();
  await until(runId, 'run.failed');
  expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'validation_error' });
  expect(await of(runId, 'runOrchestrator.decided')).toHaveLength(1);
});

test('a termination ends what goes on elsewhere', async () => {
  const held = heldStep('long');
  const definition = defineWorkflow({
    id: 'conformance-aside',
    version: '1',
    nodes: {
      boss: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [over as unknown as Json] } },
      dispatch: { type: 'core.dispatch' },
      aside: { type: 'local.step.long' },
    },
    edges: [{ from: 'boss', to: 'dispatch' }],
  });
  const { start, until, of } = await world(definition, [], [held.step]);
  const runId = await start();
  await until(runId, 'run.completed');
  expect(await of(runId, 'node.cancelled')).toMatchObject([{ nodeId: 'aside', reason: 'run-terminated' }]);
});

test.each([
  [{ fanOutPolicy: 'wide' }, 'fanOutPolicy must be one of'],
  [{ iterationCap: 0 }, 'iterationCap'],
  [{ joinPolicy: 'any' }, 'is for the fanOutPolicy parallel'],
  [{ colour: 1 }, 'colour is not known'],
  [{ perWorkerInputMappings: { kid: { a: 1 } } }, 'perWorkerInputMappings.kid must map'],
])('a dispatch configured with %j is refused at registration', async (config, why) => {
  await expect(world(crew([], config as JsonObject), [])).rejects.toThrow(why);
});

test('a supervisor that names nobody is refused outside of conformance workflows', async () => {
  await expect(world({ ...crew([]), id: 'crew' }, [])).rejects.toThrow('agent must name the agent');
});
