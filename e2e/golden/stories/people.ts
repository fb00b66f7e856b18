/** Runs that ask people: approvals, votes, questions, events from outside, conversations, and answers that never come. */
import { defineWorkflow } from '../../../packages/host/src/index.ts';
import type { Story } from '../story.ts';

const approvals: Story = {
  name: 'approvals',
  app: {
    workflows: [
      defineWorkflow({
        id: 'approvals',
        version: '1',
        variables: { euros: { type: 'number', required: true } },
        nodes: {
          draft: { type: 'core.approvalGate', config: { title: 'Ready?', actions: ['accept', 'refine', 'reject'] } },
          pay: {
            type: 'core.approvalGate',
            config: { title: 'Pay?', requiredApprovals: 2, approversList: ['ann', 'ben', 'cat'] },
          },
          send: { type: 'core.approvalGate', config: { title: 'Send?' } },
          kept: { type: 'core.noop' },
        },
        edges: [
          { from: 'draft', to: 'pay', port: 'approved', rule: 'any_success' },
          { from: 'draft', to: 'pay', port: 'refined', rule: 'any_success' },
          { from: 'pay', to: 'send', port: 'approved' },
          { from: 'send', to: 'kept', port: 'rejected' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('approvals', { euros: 180 });
    await host.answer(runId, 'draft', { action: 'refine', refineFeedback: { scope: 'whole', text: 'Shorter.' } });
    await host.answer(runId, 'pay', { action: 'accept' }, 'ann');
    await host.answer(runId, 'pay', { action: 'accept' }, 'cat');
    await host.answer(runId, 'send', { action: 'reject', reason: 'Too late.' }, 'ben');
    await host.ended(runId);
    return runId;
  },
};

const questions: Story = {
  name: 'questions',
  app: {
    workflows: [
      defineWorkflow({
        id: 'questions',
        version: '1',
        variables: { city: { type: 'string' } },
        nodes: {
          ask: {
            type: 'core.clarificationGate',
            config: {
              questions: [
                { id: 'city', question: 'Where to?', schema: { type: 'string' } },
                { id: 'nights', question: 'How long?', schema: { type: 'integer' } },
              ],
            },
          },
          keep: { type: 'core.setVariable', config: { name: 'city', expression: 'outputs.ask.answers.city' } },
          paid: {
            type: 'core.interrupt',
            config: { kind: 'external-event', data: { eventType: 'payment.received', correlation: { order: 4711 } } },
          },
          free: {
            type: 'core.interrupt',
            config: {
              kind: 'custom',
              data: { customKind: 'seat', payload: { rows: 30 } },
              resumeSchema: { type: 'object', required: ['seat'] },
            },
          },
          late: { type: 'core.approvalGate', config: { title: 'Still there?', timeoutMs: 5_000 } },
          over: { type: 'core.noop' },
        },
        edges: [
          { from: 'ask', to: 'keep' },
          { from: 'keep', to: 'paid' },
          { from: 'paid', to: 'free' },
          { from: 'free', to: 'late' },
          { from: 'late', to: 'over', rule: 'all_complete' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('questions');
    await host.answer(runId, 'ask', { answers: { city: 'Lisbon', nights: 3 } });
    await host.answer(runId, 'paid', { eventPayload: { order: 4711, euros: 180 } });
    await host.answer(runId, 'free', { seat: '12A' });
    await host.row(runId, 'interrupt.requested', 4);
    host.pass(5_000);
    await host.ended(runId);
    return runId;
  },
};

const conversation: Story = {
  name: 'conversation',
  app: {
    workflows: [
      defineWorkflow({
        id: 'conversation',
        version: '1',
        nodes: {
          talk: {
            type: 'core.conversationGate',
            config: {
              prompt: 'What shall we build?',
              participants: [{ agentId: 'host:cfo' }, { agentId: 'host:cto' }],
            },
          },
          after: { type: 'core.identity' },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('conversation');
    await host.answer(runId, 'talk', { operation: 'exchange', turn: { content: 'A boat.' } });
    const reply = { role: 'agent', speakerId: 'host:cfo', content: 'How much may it cost?' };
    await host.answer(runId, 'talk', { operation: 'exchange', turn: reply });
    await host.answer(runId, 'talk', { operation: 'exchange', turn: { content: { euros: 900 } } }, 'ben');
    await host.answer(runId, 'talk', { operation: 'close', turn: { content: 'Agreed.' }, outcome: { build: 'boat' } });
    await host.ended(runId);
    return runId;
  },
};

const waiting: Story = {
  name: 'still-waiting',
  app: {
    callbackUrl: 'https://callback.example.org/runs',
    workflows: [
      defineWorkflow({
        id: 'still-waiting',
        version: '1',
        nodes: {
          ask: { type: 'core.approvalGate', config: { title: 'Go on?' } },
          wait: { type: 'core.delay', config: { delayMs: 90_000 } },
        },
        edges: [],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('still-waiting');
    await host.row(runId, 'cairn.timer.set');
    await host.row(runId, 'interrupt.requested');
    return runId;
  },
};

export const peopleStories: readonly Story[] = [approvals, questions, conversation, waiting];
