/** Fixtures that wait for input: what they ask, which answers they accept, and how they end. */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import type { WireHost } from './wire-host.ts';

const accepts = (workflowId: string, nodeId: string): Scenario => ({
  name: 'waits for approval and completes when it is accepted',
  async run(host) {
    const run = await host.start(workflowId);
    const waiting = await run.settled();
    expect(waiting.snapshot).toMatchObject({ status: 'waiting-approval', currentNodeId: nodeId });
    expect(JSON.stringify(waiting.snapshot)).not.toMatch(/token/i);
    const asked = ['interrupt.requested', 'approval.requested', 'node.suspended'];
    expect(waiting.types.filter((type) => asked.includes(type))).toEqual(asked);
    expect(await run.answer(nodeId, { action: 'accept' })).toMatchObject({ status: 200, body: { nodeId } });
    const { status, types, payloads } = await run.ended();
    expect(status).toBe('completed');
    const told = ['interrupt.resolved', 'approval.received', 'node.resumed', 'node.completed', 'run.completed'];
    expect(types.filter((type) => told.includes(type))).toEqual(told);
    expect(payloads('approval.received')[0]).toMatchObject({ nodeId, action: 'accept', decidedBy: 'ann' });
  },
});

const rejects = (workflowId: string, nodeId: string): Scenario => ({
  name: 'fails with approval_rejected when it is rejected and nothing follows a rejection',
  async run(host) {
    const run = await host.start(workflowId);
    await run.settled();
    expect(await run.answer(nodeId, { action: 'reject', feedback: 'not like this' })).toMatchObject({ status: 200 });
    const { snapshot, payloads } = await run.ended();
    expect(payloads('approval.received')[0]).toMatchObject({ action: 'reject' });
    expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'approval_rejected' } });
  },
});

const refusesStrangeAnswers = (workflowId: string, nodeId: string, answers: readonly JsonObject[]): Scenario => ({
  name: 'refuses answers that do not fit and keeps waiting',
  async run(host) {
    const run = await host.start(workflowId);
    const before = await run.settled();
    for (const answer of answers) {
      const reply = await run.answer(nodeId, answer);
      expect([400, 422]).toContain(reply.status);
      expect(reply.body.error).toBe('validation_error');
    }
    const after = await run.settled();
    expect(after.snapshot.status).toBe(before.snapshot.status);
    expect(after.events).toHaveLength(before.events.length);
    await run.cancel();
    expect((await run.ended()).status).toBe('cancelled');
  },
});

/** Casts the votes of a quorum in order. Each vote must get a 200. */
async function vote(host: WireHost, votes: readonly (readonly ['ann' | 'bob' | 'cleo', 'accept' | 'reject'])[]) {
  const run = await host.start('conformance-interrupt-quorum');
  const statuses: unknown[] = [(await run.settled()).status];
  for (const [principal, action] of votes) {
    const reply = await run.answer('gate', { action }, principal);
    expect(reply.status).toBe(200);
    statuses.push(reply.body.status);
  }
  return { run, statuses };
}

export const interruptScenarios: Scenarios = {
  'conformance-approval': [
    accepts('conformance-approval', 'gate'),
    rejects('conformance-approval', 'gate'),
    refusesStrangeAnswers('conformance-approval', 'gate', [
      { action: 'refine' },
      { action: 'maybe' },
      { yes: true },
      {},
    ]),
    {
      name: 'takes one answer: the second is interrupt_already_resolved',
      async run(host) {
        const run = await host.start('conformance-approval');
        await run.settled();
        const replies = await Promise.all([
          run.answer('gate', { action: 'accept' }, 'ann'),
          run.answer('gate', { action: 'accept' }, 'bob'),
        ]);
        expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
        expect(replies.find((reply) => reply.status === 409)?.body.error).toBe('interrupt_already_resolved');
        expect((await run.ended()).payloads('interrupt.resolved')).toHaveLength(1);
      },
    },
    {
      name: 'cancelled while it waits answers later answers with interrupt_cancelled',
      async run(host) {
        const run = await host.start('conformance-approval');
        await run.settled();
        await run.cancel();
        expect((await run.ended()).types.at(-1)).toBe('run.cancelled');
        const late = await run.answer('gate', { action: 'accept' });
        expect(late).toMatchObject({ status: 422, body: { error: 'interrupt_cancelled' } });
      },
    },
  ],
  'conformance-interrupt-auth-required': [
    accepts('conformance-interrupt-auth-required', 'gate'),
    {
      name: 'is not resumed by a key without approvals:respond',
      async run(host) {
        const run = await host.start('conformance-interrupt-auth-required');
        await run.settled();
        const reply = await run.answer('gate', { action: 'accept' }, 'reader');
        expect(reply).toMatchObject({ status: 403, body: { details: { scopeRequired: 'approvals:respond' } } });
        expect((await run.settled()).status).toBe('waiting-approval');
      },
    },
  ],
  'conformance-interrupt-parent-child-cancel-child': [
    {
      name: 'waits for approval and is cancelled on request',
      async run(host) {
        const run = await host.start('conformance-interrupt-parent-child-cancel-child');
        expect((await run.settled()).status).toBe('waiting-approval');
        await run.cancel();
        expect((await run.ended()).status).toBe('cancelled');
      },
    },
  ],
  'conformance-subworkflow-mid-run-mutation-child': [
    accepts('conformance-subworkflow-mid-run-mutation-child', 'child-gate'),
  ],
  'conformance-clarification': [
    ...[{ answers: { q1: 'blue' } }, { answers: [{ id: 'q1', answer: 'blue' }] }].map((resumeValue) => ({
      name: `takes answers as ${Array.isArray(resumeValue.answers) ? 'a list' : 'a map'} and records a map`,
      async run(host: WireHost) {
        const run = await host.start('conformance-clarification');
        const waiting = await run.settled();
        expect(waiting.snapshot).toMatchObject({ status: 'waiting-input', currentNodeId: 'ask' });
        const questions = [{ id: 'q1', question: 'What is your favorite color?' }];
        expect(waiting.payloads('clarification.requested')[0]).toMatchObject({ questions });
        expect(await run.answer('ask', fields(resumeValue))).toMatchObject({ status: 200 });
        const { status, payloads } = await run.ended();
        expect(status).toBe('completed');
        expect(payloads('clarification.resolved')[0]).toMatchObject({ answers: { q1: 'blue' } });
      },
    })),
    refusesStrangeAnswers('conformance-clarification', 'ask', [
      { answers: {} },
      { answer: 'blue' },
      { answers: { q2: 'x' } },
    ]),
  ],
  'conformance-interrupt-external-event': [
    {
      name: 'waits for the outside and goes on with the event that matches',
      async run(host) {
        const run = await host.start('conformance-interrupt-external-event');
        const waiting = await run.settled();
        expect(waiting.status).toBe('waiting-external');
        const eventPayload = { orderId: 'fixture-order-1', status: 'completed', total: 12 };
        expect(await run.answer('wait-for-external', { eventPayload })).toMatchObject({ status: 200 });
        const { status, payloads } = await run.ended();
        expect(status).toBe('completed');
        expect(payloads('interrupt.resolved')[0]).toMatchObject({
          kind: 'external-event',
          resumeValue: { eventPayload },
        });
      },
    },
    refusesStrangeAnswers('conformance-interrupt-external-event', 'wait-for-external', [
      { eventPayload: { orderId: 'another', status: 'completed' } },
      { payload: {} },
    ]),
  ],
  'conformance-interrupt-quorum': [
    {
      name: 'goes on at the third of three principals, not before',
      async run(host) {
        const { run, statuses } = await vote(host, [
          ['ann', 'accept'],
          ['bob', 'accept'],
          ['cleo', 'accept'],
        ]);
        expect(statuses.slice(0, 3)).toEqual(['waiting-approval', 'waiting-approval', 'waiting-approval']);
        const { status, payloads } = await run.ended();
        expect(status).toBe('completed');
        expect(payloads('approval.received').map((vote) => vote.decidedBy)).toEqual(['ann', 'bob', 'cleo']);
        expect(payloads('interrupt.resolved')).toHaveLength(1);
      },
    },
    {
      name: 'does not count one principal twice',
      async run(host) {
        const { run } = await vote(host, [['ann', 'accept']]);
        for (const _ of [2, 3]) await run.answer('gate', { action: 'accept' }, 'ann');
        expect((await run.settled()).status).toBe('waiting-approval');
      },
    },
    {
      name: 'is rejected once a majority can no longer be reached',
      async run(host) {
        const { run } = await vote(host, [
          ['ann', 'reject'],
          ['bob', 'reject'],
        ]);
        const { snapshot } = await run.ended();
        expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'approval_rejected' } });
      },
    },
  ],
};
