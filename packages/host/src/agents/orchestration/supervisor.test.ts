import type { Json, JsonObject, OrchestratorDecision, WorkflowNode } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { heldStep } from '../../../test/kit/engine-bench.ts';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { checkDefinition } from '../../engine/workflow/registration.ts';
import { testDefinition } from '../agent-definition.kit.ts';
import { testLoopOptions } from '../loop/agent-script.kit.ts';
import { noop, over, send, startEngine, supervised } from './supervised-run.kit.ts';
import { createSupervisor } from './supervisor.ts';
import { briefed } from './workers.ts';

describe('a decision that is too unsure', () => {
  const unsure: OrchestratorDecision = { ...send('kid'), confidence: 0.3 } as OrchestratorDecision;

  test('is held before anything is done about it, and carried out once a person accepts', async () => {
    const { start, until, of, engine } = await startEngine(supervised([unsure, over]), [noop('kid')]);
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
    const { start, until, of, engine } = await startEngine(supervised([unsure, over]), [noop('other')]);
    const runId = await start();
    await until(runId, 'node.suspended');
    const value = { action: 'edit-accept', editedArtifactData: send('other') as JsonObject };
    await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value });
    await until(runId, 'run.completed');
    expect((await of(runId, 'node.dispatched'))[0]).toMatchObject({ childWorkflowId: 'other' });
  });

  test('fails the run when it is rejected', async () => {
    const { start, until, of, engine } = await startEngine(supervised([unsure, over]), [noop('kid')]);
    const runId = await start();
    await until(runId, 'node.suspended');
    await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value: { action: 'reject' } });
    await until(runId, 'run.failed');
    expect(await of(runId, 'core.workflowChain.event')).toEqual([]);
  });

  test('is carried out at the floor itself', async () => {
    const { start, until, of } = await startEngine(
      supervised([{ ...send('kid'), confidence: 0.5 } as OrchestratorDecision, over]),
      [noop('kid')],
    );
    const runId = await start();
    await until(runId, 'run.completed');
    expect(await of(runId, 'core.workflowChain.confidence-escalated')).toEqual([]);
  });
});

test('a supervisor whose agent is not sure enough decides nothing until a person has looked', async () => {
  const definition = supervised([]);
  const config = { mockConfidence: 0.5, mockPendingDecision: over as Json };
  const boss = { ...definition.nodes[0], config } as (typeof definition.nodes)[number];
  const { start, until, of, engine } = await startEngine(
    { ...definition, nodes: [boss, ...definition.nodes.slice(1)] },
    [],
  );
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
  const { start, until, of, engine } = await startEngine(
    supervised([{ kind: 'ask-user', prompt: 'Which colour?' }, over]),
    [],
  );
  const runId = await start();
  await until(runId, 'node.suspended');
  expect((await of(runId, 'interrupt.requested'))[0]).toMatchObject({ data: { prompt: 'Which colour?' } });
  const value = { operation: 'exchange', turn: { content: 'blue' } };
  await engine.answer({ tenant: 't', runId, nodeId: 'dispatch', value });
  await until(runId, 'run.completed');
  const outputs = (await of(runId, 'node.completed')).find(({ nodeId }) => nodeId === 'dispatch')?.outputs;
  expect(outputs).toEqual({ answer: 'blue' });
});

test('a decision of another supervisor than the first is refused', async () => {
  const two = defineWorkflow({
    id: 'conformance-two',
    version: '1',
    nodes: {
      first: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [send('kid') as Json] } },
      second: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [send('kid') as Json] } },
    },
  });
  const { start, until, of } = await startEngine(two, []);
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
      boss: { type: 'core.orchestrator.supervisor', config: { mockDecisions: [over as Json] } },
      dispatch: { type: 'core.dispatch' },
      aside: { type: 'local.step.long' },
    },
    edges: [{ from: 'boss', to: 'dispatch' }],
  });
  const { start, until, of } = await startEngine(definition, [], [held.step]);
  const runId = await start();
  await until(runId, 'run.completed');
  expect(await of(runId, 'node.cancelled')).toMatchObject([{ nodeId: 'aside', reason: 'run-terminated' }]);
});

test.each([
  [{ outputSchema: { type: 'string' } }, 'config.outputSchema (node boss): is not known'],
  [{ workers: [{ id: 'kid' }] }, 'config.workers[0].description (node boss): '],
  [{ colour: 'red' }, 'config.colour (node boss): is not known'],
])('a supervisor with an agent and %j is refused at registration', async (config, why) => {
  const definition = defineWorkflow({
    id: 'crew',
    version: '1',
    nodes: {
      boss: { type: 'core.orchestrator.supervisor', agent: { agentId: 'host:boss' }, config: config as JsonObject },
    },
  });
  await expect(startEngine(definition, [])).rejects.toThrow(why);
});

test("a supervisor with a script is held by the threshold of its agent's manifest", () => {
  const agentId = 'vendor.acme.desk.boss';
  const definition = testDefinition({ manifest: { agentId, confidence: { defaultThreshold: 0.9 } } });
  const agents = {
    definitions: new Map([[agentId, definition]]),
    pins: { [agentId]: { hash: 'h', ref: { agentId, version: '1.0.0' } } },
  };
  const config = { mockConfidence: 0.8, mockPendingDecision: over as Json };
  const boss = { type: 'core.orchestrator.supervisor', agent: agentId, config };
  const nodeTypes = createNodeTypeRegistry(
    [],
    [createSupervisor(testLoopOptions({ isConformanceHost: true })), dispatch],
  );
  const run = new RunScript(workflowOf({ boss, d: { type: 'core.dispatch' } }), { nodeTypes, agents });
  expect(run.last('node.suspended')).toMatchObject({ threshold: 0.9, observed: 0.8, rule: 'manifest' });
});

test('a script decides only on a host under test, whatever the workflow is called', () => {
  const nodeTypes = createNodeTypeRegistry([], [createSupervisor(testLoopOptions()), dispatch]);
  expect(() => checkDefinition(supervised([over]), nodeTypes)).toThrow(/must name the agent that supervises/);
});

test('a supervisor asks the user as often as the host allows, and then its node fails', async () => {
  const asking = (prompt: string): OrchestratorDecision => ({ kind: 'ask-user', prompt });
  const nodeTypes = createNodeTypeRegistry(
    [],
    [createSupervisor(testLoopOptions({ isConformanceHost: true, clarificationRounds: 2 })), dispatch],
  );
  const run = new RunScript(supervised([asking('One?'), asking('Two?'), asking('Three?'), over]), { nodeTypes });
  for (let i = 0; i < 2; i += 1) {
    const interruptId = Object.keys(run.state.view.interrupts)[0];
    run.answers('dispatch', { operation: 'close', turn: { content: 'Yes.' } });
    expect(run.state.view.interrupts).not.toHaveProperty(String(interruptId));
  }
  expect(run.all('runOrchestrator.decided')).toHaveLength(2);
  expect(run.last('cap.breached')).toEqual({ kind: 'clarification', limit: 2, observed: 3, nodeId: 'boss' });
  expect(run.last('run.failed').error).toMatchObject({ code: 'clarification_limit_exceeded' });
});

test('an agent that supervises and has asked enough is not offered to ask again', () => {
  const node = supervised([]).nodes[0] as WorkflowNode;
  const config = {};
  const agents = new Map([['host:boss', testDefinition()]]);
  const schemaOf = (mayAsk: boolean) =>
    JSON.stringify(briefed({ node, config }, agents, mayAsk).get('host:boss')?.returnSchema);
  expect(schemaOf(true)).toContain('ask-user');
  expect(schemaOf(false)).not.toContain('ask-user');
  expect(schemaOf(false)).toContain('next-worker');
});
