/** Agent fixtures: who acts, what they think, call, hand off and decide, and when a decision is held. */
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields, fieldsOrNone, objects } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import type { RunView, WireHost } from './wire-host.ts';

const agentTypes = (types: readonly string[]): readonly string[] => types.filter((type) => type.startsWith('agent.'));
const agentOf = (event: RunEventDoc | undefined): unknown => fieldsOrNone(event?.payload).agentId;
const one = (view: RunView, type: string): RunEventDoc => {
  const found = view.events.filter((event) => event.type === type);
  expect(found).toHaveLength(1);
  return present(found[0]);
};

const identity: Scenario = {
  name: 'shows the agent on the node and on the run, also after its end, and writes no agent events',
  async run(host) {
    const view = await (await host.start('conformance-agent-identity')).ended();
    const agent = { agentId: 'core.conformance.identity-agent', modelClass: 'chat' };
    expect(view.status).toBe('completed');
    expect(view.snapshot.agent).toEqual(agent);
    expect(view.payloads('node.started')).toMatchObject([{ agent }]);
    expect(view.payloads('node.completed')).toMatchObject([{ agent }]);
    expect(agentTypes(view.types)).toEqual([]);
  },
};

const reasoning: Scenario = {
  name: 'reasons, calls a tool, hands on and decides, in this order, under one agent',
  async run(host) {
    const view = await (await host.start('conformance-agent-reasoning')).ended();
    expect(view.status).toBe('completed');
    const types = ['agent.reasoned', 'agent.toolCalled', 'agent.toolReturned', 'agent.handoff', 'agent.decided'];
    expect(agentTypes(view.types)).toEqual(types);
    const agentId = 'core.conformance.reasoning-agent';
    for (const type of types.filter((name) => name !== 'agent.handoff')) expect(agentOf(one(view, type))).toBe(agentId);
    expect(one(view, 'agent.reasoned').payload).toMatchObject({
      reasoning: 'Decomposed query, decided to call a tool, then handed off.',
    });
    expect(one(view, 'agent.decided').payload).toMatchObject({ decision: { next: 'done' }, confidence: 1 });
  },
};

const bothSpellings: Scenario = {
  name: 'names tool and handoff in both spellings, and a result after the call that caused it',
  async run(host) {
    const view = await (await host.start('conformance-agent-reasoning')).ended();
    const called = one(view, 'agent.toolCalled');
    const returned = one(view, 'agent.toolReturned');
    const tool = { toolName: 'openwop.echo:echo', toolId: 'openwop.echo:echo' };
    expect(called.payload).toMatchObject({ ...tool, inputs: { x: 1 }, arguments: { x: 1 } });
    expect(returned.payload).toMatchObject({
      ...tool,
      outcome: { x: 1 },
      result: { x: 1 },
      status: 'ok',
      durationMs: 1,
    });
    expect(returned.causationId).toBe(called.eventId);
    expect(fields(returned.payload).callId).toBe(fields(called.payload).callId);
    const to = 'core.conformance.handoff-target';
    expect(one(view, 'agent.handoff').payload).toMatchObject({
      fromAgentId: 'core.conformance.reasoning-agent',
      toAgentId: to,
      to: { agentId: to },
      reason: 'demo-handoff',
    });
  },
};

const chunks = [
  'Let me think about this. ',
  'First, the user is asking a question. ',
  'Therefore, I should respond clearly.',
];

const streaming: Scenario = {
  name: 'streams its reasoning from 0 on and closes it once with the whole text',
  async run(host) {
    const view = await (await host.start('conformance-agent-reasoning-streaming')).ended();
    const deltas = view.payloads('agent.reasoning.delta');
    expect(deltas.map(({ sequence, delta }) => [sequence, delta])).toEqual([...chunks.entries()]);
    expect(one(view, 'agent.reasoned').payload).toMatchObject({ reasoning: chunks.join('') });
    expect(view.types.indexOf('agent.reasoned')).toBeGreaterThan(view.types.lastIndexOf('agent.reasoning.delta'));
    for (const { agentId } of deltas) expect(agentId).toBe('core.conformance.streaming-reasoner');
  },
};

const silent: Scenario = {
  name: 'says nothing of its reasoning when the run wants none',
  async run(host) {
    const run = await host.start('conformance-agent-reasoning-streaming', {
      configurable: { reasoningVerbosity: 'off' },
    });
    expect(agentTypes((await run.ended()).types)).toEqual([]);
  },
};

const held = { agentId: 'core.conformance.low-conf-decider', threshold: 0.7, observed: 0.5 };

const holds: Scenario = {
  name: 'holds a decision below the threshold, says by which rule, and completes once it is approved',
  async run(host) {
    const run = await host.start('conformance-agent-low-confidence');
    const waiting = await run.settled();
    expect(waiting.status).toBe('waiting-approval');
    const order = ['agent.decided', 'node.suspended', 'interrupt.requested'];
    expect(waiting.types.filter((type) => order.includes(type))).toEqual(order);
    expect(one(waiting, 'node.suspended').payload).toMatchObject({
      reason: 'low-confidence',
      ...held,
      rule: 'default',
    });
    const decision = { kind: 'stub-low-conf' };
    expect(one(waiting, 'interrupt.requested').payload).toMatchObject({
      kind: 'low-confidence',
      data: { ...held, decision },
    });
    expect(waiting.snapshot).toMatchObject({
      currentNodeId: 'low-conf-decider',
      interrupt: { kind: 'low-confidence' },
    });
    expect(await run.answer('low-conf-decider', { action: 'approve' })).toMatchObject({ status: 200 });
    expect((await run.ended()).status).toBe('completed');
  },
};

const threshold = (escalationThreshold: number, status: string): Scenario => ({
  name: `with a threshold of ${escalationThreshold} from the run ends as ${status}: strictly less is held`,
  async run(host) {
    const run = await host.start('conformance-agent-low-confidence', { configurable: { escalationThreshold } });
    const view = await run.settled();
    expect(view.status).toBe(status);
    if (status === 'completed') return;
    expect(one(view, 'node.suspended').payload).toMatchObject({ threshold: escalationThreshold, rule: 'run-option' });
    await run.cancel();
  },
});

const calibrated: Scenario = {
  name: 'counts what was said of the decision against how sure the agent was',
  async run(host) {
    const figures = async () => {
      const { body } = await host.call('GET', '/v1/host/cairn/calibration');
      const agents = objects(body.agents);
      return agents.find(({ agentId }) => agentId === held.agentId) ?? { stated: 0, approved: 0, rejected: 0 };
    };
    const before = await figures();
    const run = await host.start('conformance-agent-low-confidence');
    await run.settled();
    await run.answer('low-conf-decider', { action: 'reject', final: true });
    await run.ended();
    const after = await figures();
    expect(Number(after.stated) - Number(before.stated)).toBe(1);
    expect(Number(after.rejected) - Number(before.rejected)).toBe(1);
    const bucket = objects(after.buckets).find(({ from }) => from === 0.5);
    expect(bucket).toMatchObject({ to: 0.6, rejected: Number(after.rejected) });
    expect((await host.call('GET', '/v1/host/cairn/calibration', { as: 'stranger' })).body.agents).toEqual([]);
  },
};

const refusesOff = (name: string, value: JsonObject): Scenario => ({
  name: `refuses ${name} as an answer and keeps waiting`,
  async run(host: WireHost) {
    const run = await host.start('conformance-agent-low-confidence');
    await run.settled();
    const reply = await run.answer('low-conf-decider', value);
    expect([400, 422]).toContain(reply.status);
    expect((await run.settled()).status).toBe('waiting-approval');
    await run.cancel();
  },
});

export const agentScenarios: Scenarios = {
  'conformance-agent-identity': [identity],
  'conformance-agent-reasoning': [reasoning, bothSpellings],
  'conformance-agent-reasoning-streaming': [streaming, silent],
  'conformance-agent-low-confidence': [
    holds,
    threshold(0.4, 'completed'),
    threshold(0.5, 'completed'),
    threshold(0.51, 'waiting-approval'),
    calibrated,
    refusesOff('an edit without a decision', { action: 'edit' }),
    refusesOff('an approval with more than it takes', { action: 'approve', because: 'I say so' }),
  ],
};
