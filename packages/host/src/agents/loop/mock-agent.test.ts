import { type JsonObject, parseWorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { withOpenwop } from '../../../../../e2e/openwop/with-openwop.ts';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import { checkDefinition } from '../../engine/workflow/registration.ts';
import { testDefinition } from '../agent-definition.kit.ts';
import { sha256, testLoopOptions } from './agent-script.kit.ts';
import type { LoopOptions } from './loop-options.ts';
import { mockAgent } from './mock-agent.ts';

const nodeTypesOf = (loopOptions: Partial<LoopOptions> = {}) =>
  createNodeTypeRegistry([], [mockAgent(testLoopOptions(loopOptions))]);
const nodeTypes = nodeTypesOf();
const typeId = 'core.conformance.mock-agent';

const workflow = (config: JsonObject, more: object = {}, id = 'conformance-x') =>
  workflowOf({ m: { type: typeId, config, ...more } as never }, undefined, { id });

const play = (config: JsonObject, configurable: JsonObject = {}, more: object = {}) =>
  new RunScript(workflow(config, more), { nodeTypes, configurable });

const told = (run: RunScript) => run.types().filter((type) => /^(agent|interrupt|node\.suspended|cap)/.test(type));

describe('what it does', () => {
  const everything = {
    mockReasoning: { summary: 'Short.', trace: 'Long.', streamChunks: ['a', 'b'] },
    mockToolCalls: [
      { toolId: 'x:one', arguments: { n: 1 }, result: 2, durationMs: 3 },
      { toolId: 'x:two', error: { error: 'tool_failed', message: 'No.' } },
    ],
    mockHandoff: { toAgentId: 'core.other', reason: 'r', context: { c: 1 } },
    mockDecision: { decision: 'd', confidence: 0.5, reasoning: 'w' },
  };

  test('comes in one order: reasoned, tools, handoff, decided, held', () => {
    const run = play(everything);
    expect(told(run)).toEqual([
      'agent.reasoning.delta',
      'agent.reasoning.delta',
      'agent.reasoned',
      'agent.toolCalled',
      'agent.toolReturned',
      'agent.toolCalled',
      'agent.toolReturned',
      'agent.handoff',
      'agent.decided',
      'node.suspended',
      'interrupt.requested',
    ]);
    expect(run.status).toBe('waiting-approval');
    expect(run.answers('m', { action: 'approve' }).last('node.completed').outputs).toEqual({});
    expect(run.status).toBe('completed');
  });

  test('deltas join to what is closed, and each result is caused by its call', () => {
    const run = play(everything);
    expect(run.all('agent.reasoning.delta').map(({ delta, sequence }) => [delta, sequence])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(run.last('agent.reasoned')).toMatchObject({ reasoning: 'ab', agentId: 'host:mock-agent:m' });
    const rows = run.events.filter(({ type }) => type.startsWith('agent.tool'));
    for (const [i, row] of rows.entries())
      if (row.type === 'agent.toolReturned') expect(row.cause).toBe(rows[i - 1]?.seq);
    expect(rows[0]?.payload).toMatchObject({ toolId: 'x:one', toolName: 'x:one', argsHash: sha256('{"n":1}', 'hex') });
    expect(rows[1]?.payload).toMatchObject({ outcome: 2, result: 2, durationMs: 3, status: 'ok' });
    expect(rows[3]?.payload).toMatchObject({ error: { code: 'tool_failed', message: 'No.' }, status: 'error' });
  });

  test.each([
    ['the configuration', { agentId: 'core.own' }, { agent: { agentId: 'core.pinned' } }, 'core.own'],
    ['the pin of the node', {}, { agent: { agentId: 'core.pinned' } }, 'core.pinned'],
    ['nobody', {}, {}, 'host:mock-agent:m'],
  ])('is done by whom %s names', (_who, config, more, expected) => {
    const run = play({ mockReasoning: true, ...config }, {}, more);
    expect(run.last('agent.reasoned').agentId).toBe(expected);
  });

  test('a bare confidence is a decision too, and one above the threshold passes', () => {
    expect(play({ mockConfidence: 0.6 }).status).toBe('waiting-approval');
    expect(play({ mockConfidence: 0.6 }, { escalationThreshold: 0.6 }).status).toBe('completed');
  });

  test.each([
    ['the agent of its node', {}, { agent: 'vendor.acme.desk.triage' }],
    ['the agent of its config', { agentId: 'vendor.acme.desk.triage' }, {}],
  ])('the threshold of the manifest of %s counts', (_whose, config, more) => {
    const agentId = 'vendor.acme.desk.triage';
    const definition = testDefinition({ manifest: { agentId, confidence: { defaultThreshold: 0.9 } } });
    const ref = { agentId, name: 'Triage', version: '1.0.0' };
    const agents = { definitions: new Map([[agentId, definition]]), pins: { [agentId]: { hash: 'h', ref } } };
    const run = new RunScript(workflow({ ...config, mockConfidence: 0.8 }, more), { nodeTypes, agents });
    expect(run.last('node.suspended')).toMatchObject({ threshold: 0.9, observed: 0.8, rule: 'manifest' });
  });

  test('nothing is reasoned when that is off', () => {
    expect(told(play({ mockReasoning: true }, { reasoningVerbosity: 'off' }))).toEqual([]);
    expect(
      play({ mockReasoning: { summary: 's', trace: 't' } }, { reasoningVerbosity: 'full' }).last('agent.reasoned'),
    ).toMatchObject({ reasoning: 't' });
  });
});

describe('where it may stand and what it may hold', () => {
  test.each([
    ['its agent', { agentId: 'host:a2a:peer.example:writer' }],
    ['who gets the work', { mockHandoff: { toAgentId: 'did:web:acme.example' } }],
  ])('%s is nobody that only the host may name', (_what, config) => {
    expect(() => checkDefinition(workflow(config), nodeTypes)).toThrow(/nodes\[0]\.config \(node m\): the agent /);
  });

  test.each<[string, JsonObject]>([
    ['an unknown key', { mockThing: 1 }],
    ['a tool call without an end', { mockToolCalls: [{ toolId: 'x:y' }] }],
    [
      'a tool call with two ends',
      { mockToolCalls: [{ toolId: 'x:y', result: 1, error: { error: 'e', message: 'm' } }] },
    ],
    ['a confidence of 2', { mockConfidence: 2 }],
    ['an agent id of two letters', { agentId: 'ab' }],
    ['a decision without one', { mockDecision: { confidence: 1 } }],
  ])('%s is refused when it is registered', (_what, config) => {
    expect(() => checkDefinition(workflow(config), nodeTypes)).toThrow(/nodes\[0]\.config\.\w+\S* \(node m\): /);
  });
});

withOpenwop('the published fixtures', ({ fixtures }) => {
  const fixture = (name: string) =>
    new RunScript(parseWorkflowDefinition(fixtures.get(`conformance-agent-${name}`)?.definition), { nodeTypes });

  test('reasoning, streamed reasoning and low confidence behave as the wire says', () => {
    expect(told(fixture('reasoning'))).toEqual([
      'agent.reasoned',
      'agent.toolCalled',
      'agent.toolReturned',
      'agent.handoff',
      'agent.decided',
    ]);
    expect(fixture('reasoning-streaming').all('agent.reasoning.delta')).toHaveLength(3);
    const held = fixture('low-confidence');
    expect(held.status).toBe('waiting-approval');
    expect(held.last('node.suspended')).toMatchObject({
      reason: 'low-confidence',
      agentId: 'core.conformance.low-conf-decider',
      threshold: 0.7,
      observed: 0.5,
    });
  });
});
