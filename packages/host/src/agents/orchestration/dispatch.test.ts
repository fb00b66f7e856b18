import type { Json, JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { heldStep } from '../../../test/kit/engine-bench.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { child, noop, over, send, startEngine, supervised, worker } from './supervised-run.kit.ts';

test('a supervisor decides, a dispatch carries it out, and the chain of its events is caused one by the other', async () => {
  const { start, until, rows, of } = await startEngine(
    supervised(
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
  const { start, until, of } = await startEngine(supervised([], {}), [noop('conformance-noop')]);
  const runId = await start();
  await until(runId, 'run.completed');
  expect((await of(runId, 'runOrchestrator.decided')).map(({ decision }) => (decision as JsonObject).kind)).toEqual([
    'terminate',
  ]);
  const bare = supervised([]);
  const boss = { ...bare.nodes[0], config: {} } as (typeof bare.nodes)[number];
  const again = await startEngine({ ...bare, nodes: [boss, ...bare.nodes.slice(1)] }, [noop('conformance-noop')]);
  const other = await again.start();
  await again.until(other, 'run.completed');
  expect(
    (await again.of(other, 'runOrchestrator.decided')).map(({ decision }) => (decision as JsonObject).kind),
  ).toEqual(['next-worker', 'terminate']);
});

describe('workers one after the other', () => {
  test('give on what the one before has made', async () => {
    const { engine, start, until } = await startEngine(
      supervised(
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
    const { start, until, of } = await startEngine(
      supervised([send('first', 'second'), over], { outputMapping: { out: 'made' } }),
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
    const { start, until, of } = await startEngine(
      supervised([send('first', 'second'), over], { onChildFailure: 'absorb' }),
      [failing, noop('second')],
    );
    const runId = await start();
    await until(runId, 'run.completed');
    const ends = (await of(runId, 'core.workflowChain.event'))
      .map(({ phase }) => phase)
      .filter((p) => `${p}`.startsWith('child'));
    expect(ends).toEqual(['child.failed', 'child.completed']);
  });

  test('that are not there fail the dispatch, with one row that says so', async () => {
    const { start, until, of } = await startEngine(supervised([send('nobody'), over]), []);
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
    const { start, until, of, engine } = await startEngine(
      supervised(plan, merging),
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
    const changes = (await of(runId, 'variable.changed')).map(({ previous, next }) => [previous, next]);
    expect(changes).toEqual([
      [undefined, 'one'],
      ['one', 'two'],
    ]);
  });

  test('give back because they completed, each for itself', async () => {
    const { start, until, rows } = await startEngine(supervised([send('one', 'two'), over], merging), [
      noop('one', 'first'),
      noop('two', 'second'),
    ]);
    const runId = await start();
    await until(runId, 'run.completed');
    const all = await rows(runId);
    const payloadOf = (row: (typeof all)[number] | undefined) => JSON.parse(row?.payload ?? 'null') as JsonObject;
    const harvests = all.filter((row) => row.type === 'core.workflowChain.event' && row.payload.includes('harvested"'));
    expect(harvests.map((row) => payloadOf(all[row.cause as number]))).toMatchObject(
      harvests.map((row) => ({ phase: 'child.completed', childRunId: payloadOf(row).childRunId })),
    );
    expect(harvests).toHaveLength(2);
    const changes = all.filter((row) => row.type === 'variable.changed');
    expect(changes.map((row) => row.cause)).toEqual(harvests.map((row) => row.seq));
  });

  test('of which one is enough end with it, and the others are cancelled', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const config = { ...merging, joinPolicy: 'any' };
    const { start, until, of } = await startEngine(
      supervised([send('one', 'two'), over], config),
      [slow('one'), slow('two')],
      [one.step, two.step],
    );
    const runId = await start();
    await two.called(1);
    (await one.called(1)).resolve(null);
    await until(runId, 'run.completed');
    await until(child(runId, 1), 'run.cancelled');
    expect((await of(child(runId, 1), 'run.cancelled'))[0]).toMatchObject({ reason: 'parent-cancelled' });
    const outputs = (await of(runId, 'node.completed')).find(({ nodeId }) => nodeId === 'dispatch')?.outputs;
    expect(outputs).toMatchObject({ childRunId: child(runId, 0), childStatus: 'completed', mergeOrder: ['one'] });
  });

  test('that must all complete fail with the first that does not, and the others are cancelled', async () => {
    const [one, two] = [heldStep('one'), heldStep('two')];
    const { start, until } = await startEngine(
      supervised([send('one', 'two'), over], merging),
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
    const { start, until, of } = await startEngine(
      supervised([send('one', 'two'), over], config),
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
    const { start, until, of } = await startEngine(supervised([send('one', 'two')], { fanOutPolicy: 'reject' }), []);
    const runId = await start();
    await until(runId, 'run.failed');
    expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'fan_out_unsupported' });
  });
});

describe('limits', () => {
  test('on dispatches end a loop that goes on', async () => {
    const { start, until, of } = await startEngine(
      supervised([send('kid'), send('kid'), send('kid')], { iterationCap: 2 }),
      [noop('kid')],
    );
    const runId = await start();
    await until(runId, 'run.failed');
    expect(await of(runId, 'cap.breached')).toMatchObject([{ kind: 'dispatch-iterations', limit: 2, observed: 3 }]);
    expect(await of(runId, 'node.dispatched')).toHaveLength(2);
  });

  test('on decisions end it before the next one', async () => {
    const { start, until, of } = await startEngine(supervised([send('kid'), send('kid'), send('kid')]), [noop('kid')]);
    const runId = await start({ maxLoopIterations: 2 });
    await until(runId, 'run.failed');
    expect(await of(runId, 'runOrchestrator.decided')).toHaveLength(2);
    expect(await of(runId, 'cap.breached')).toMatchObject([{ kind: 'loop-iterations', limit: 2, observed: 3 }]);
  });
});

test('a decision is carried out by the first dispatch that takes it up, and another has nothing to do', async () => {
  const held = heldStep('one');
  const twice = defineWorkflow({
    id: 'conformance-twice',
    version: '1',
    nodes: {
      boss: {
        type: 'core.orchestrator.supervisor',
        config: { mockDispatchPlan: [send('one')] as Json },
      },
      left: { type: 'core.dispatch' },
      right: { type: 'core.dispatch' },
      after: { type: 'core.noop' },
    },
    edges: [
      { from: 'boss', to: 'left' },
      { from: 'boss', to: 'right' },
      { from: 'right', to: 'after', rule: 'any_failed' },
    ],
  });
  const { start, until, of } = await startEngine(
    twice,
    [worker('one', { a: { type: 'local.step.one' } })],
    [held.step],
  );
  const runId = await start();
  (await held.called(1)).resolve(null);
  await until(runId, 'run.completed');
  expect(await of(runId, 'node.dispatched')).toHaveLength(1);
  expect(await of(runId, 'node.failed')).toMatchObject([{ nodeId: 'right', error: { code: 'no_pending_decision' } }]);
});

test('a dispatch without a decision fails by its own name', async () => {
  const lone = defineWorkflow({ id: 'conformance-lone', version: '1', nodes: { d: { type: 'core.dispatch' } } });
  const { start, until, of } = await startEngine(lone, []);
  const runId = await start();
  await until(runId, 'run.failed');
  expect((await of(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'no_pending_decision' });
});

test.each([
  [{ fanOutPolicy: 'wide' }, 'config.fanOutPolicy (node dispatch): Invalid option: expected one of'],
  [{ iterationCap: 0 }, 'config.iterationCap (node dispatch): '],
  [{ joinPolicy: 'any' }, 'config.joinPolicy (node dispatch): is for the fanOutPolicy parallel'],
  [{ colour: 1 }, 'config.colour (node dispatch): is not known'],
  [{ perWorkerInputMappings: { kid: { a: 1 } } }, 'config.perWorkerInputMappings.kid.a (node dispatch): '],
])('a dispatch configured with %j is refused at registration', async (config, why) => {
  await expect(startEngine(supervised([], config as JsonObject), [])).rejects.toThrow(why);
});
