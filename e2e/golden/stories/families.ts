/** Trees of runs: sub-workflows, supervisors that dispatch, parallel workers, and their ends. */
import { defineAgent, defineTool, defineWorkflow, fixed, variable, z } from '../../../packages/host/src/index.ts';
import type { JsonObject, RunId } from '../../../packages/protocol/src/index.ts';
import type { Story } from '../story.ts';

const nested: Story = {
  name: 'sub-workflows',
  app: {
    workflows: [
      defineWorkflow({
        id: 'shout',
        version: '1',
        variables: { text: { type: 'string' }, loud: { type: 'string' } },
        nodes: {
          up: { type: 'core.setVariable', config: { name: 'loud', expression: 'variables.text.upperAscii()' } },
          ask: { type: 'core.approvalGate', config: { title: 'Loud enough?' } },
        },
      }),
      defineWorkflow({
        id: 'middle',
        version: '1',
        variables: { word: { type: 'string' }, shouted: { type: 'string' } },
        nodes: {
          shout: {
            type: 'core.subWorkflow',
            config: { workflowId: 'shout', inputMapping: { text: 'word' }, outputMapping: { shouted: 'loud' } },
          },
        },
      }),
      defineWorkflow({
        id: 'breaks',
        version: '1',
        nodes: { stop: { type: 'core.fail', config: { code: 'no_stock', message: 'Nothing is left.' } } },
      }),
      defineWorkflow({
        id: 'sub-workflows',
        version: '1',
        variables: { word: { type: 'string', defaultValue: 'land' }, heard: { type: 'string' } },
        nodes: {
          middle: {
            type: 'core.subWorkflow',
            config: { workflowId: 'middle', inputMapping: { word: 'word' }, outputMapping: { heard: 'shouted' } },
          },
          breaks: { type: 'core.subWorkflow', config: { workflowId: 'breaks', onChildFailure: 'absorb' } },
          lost: { type: 'core.subWorkflow', config: { workflowId: 'nobody' } },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('sub-workflows');
    await host.answer(`${runId}.0.0` as RunId, 'ask', { action: 'accept' });
    await host.ended(runId);
    return runId;
  },
};

const cancelled: Story = {
  name: 'cancelled-tree',
  app: {
    workflows: [
      defineWorkflow({
        id: 'waits',
        version: '1',
        nodes: { ask: { type: 'core.approvalGate', config: { title: 'Go on?' } } },
      }),
      defineWorkflow({
        id: 'between',
        version: '1',
        nodes: { down: { type: 'core.subWorkflow', config: { workflowId: 'waits' } } },
      }),
      defineWorkflow({
        id: 'cancelled-tree',
        version: '1',
        nodes: { down: { type: 'core.subWorkflow', config: { workflowId: 'between' } } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('cancelled-tree');
    const leaf = `${runId}.0.0` as RunId;
    await host.until(async () => (await host.store.log.head(leaf)) !== null);
    await host.row(leaf, 'interrupt.requested');
    host.pass();
    await host.cancel(runId, 'Enough.');
    for (const id of [runId, `${runId}.0` as RunId, leaf]) await host.ended(id);
    return runId;
  },
};

const decides = (...decisions: readonly JsonObject[]) => ({
  turns: decisions.map((decision) => [{ answer: decision }]),
});

const parallel: Story = {
  name: 'parallel-workers',
  app: {
    agents: [
      defineAgent({
        id: 'host:boss',
        persona: 'Boss',
        instructions: 'You send workers.',
        rehearsal: decides({ kind: 'next-worker', nextWorkerIds: ['left', 'right'] }),
      }),
    ],
    workflows: [
      ...['left', 'right'].map((id) =>
        defineWorkflow({
          id,
          version: '1',
          variables: { found: { type: 'string' } },
          nodes: {
            find: { type: 'core.setVariable', config: { name: 'found', value: id } },
            ask: { type: 'core.approvalGate', config: { title: `Is ${id} right?` } },
          },
        }),
      ),
      defineWorkflow({
        id: 'parallel-workers',
        version: '1',
        variables: { found: { type: 'string' } },
        nodes: {
          boss: {
            type: 'core.orchestrator.supervisor',
            agent: 'host:boss',
            config: {
              workers: [
                { id: 'left', description: 'Looks left.' },
                { id: 'right', description: 'Looks right.' },
              ],
            },
          },
          send: {
            type: 'core.dispatch',
            config: { fanOutPolicy: 'parallel', joinPolicy: 'settled', outputMapping: { found: 'found' } },
          },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('parallel-workers');
    await host.answer(`${runId}.0` as RunId, 'ask', { action: 'accept' });
    await host.answer(`${runId}.1` as RunId, 'ask', { action: 'reject' });
    await host.ended(runId);
    return runId;
  },
};

const archive = defineTool({
  id: 'acme.archive:search',
  description: 'Searches the archive.',
  input: z.object({ text: z.string() }),
  safety: 'read',
  run: ({ text }) => ({ found: `three pages about ${text}` }),
});

/** One worker is enough, the other is cancelled; a third run outlives its parent. */
const racing: Story = {
  name: 'racing-workers',
  app: {
    agents: [
      defineAgent({
        id: 'host:boss',
        persona: 'Boss',
        instructions: 'You send workers.',
        rehearsal: decides({ kind: 'next-worker', nextWorkerIds: ['quick', 'slow'] }),
      }),
    ],
    workflows: [
      defineWorkflow({ id: 'quick', version: '1', nodes: { ask: { type: 'core.approvalGate' } } }),
      defineWorkflow({
        id: 'slow',
        version: '1',
        nodes: { wait: { type: 'core.delay', config: { delayMs: 60_000 } } },
      }),
      defineWorkflow({
        id: 'racing-workers',
        version: '1',
        nodes: {
          boss: {
            type: 'core.orchestrator.supervisor',
            agent: 'host:boss',
            config: { workers: ['quick', 'slow'].map((id) => ({ id, description: `It is ${id}.` })) },
          },
          send: { type: 'core.dispatch', config: { fanOutPolicy: 'parallel', joinPolicy: 'any' } },
          free: { type: 'core.subWorkflow', config: { workflowId: 'slow', propagateCancellation: false } },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('racing-workers', {}, { configurable: { budget: { maxRuns: 5, maxToolCalls: 9 } } });
    const below = (i: number) => `${runId}.${i}` as RunId;
    const [quick, slow, free] = [below(0), below(1), below(2)];
    await host.answer(quick, 'ask', { action: 'accept' });
    await host.ended(slow);
    await host.until(async () => (await host.store.log.head(free)) !== null);
    await host.row(free, 'cairn.timer.set');
    await host.cancel(runId, 'Enough.');
    await host.ended(runId);
    host.pass(60_000);
    await host.ended(free);
    return runId;
  },
};

const supervised = (name: string, decision: JsonObject, config: JsonObject = {}): Pick<Story, 'name' | 'app'> => ({
  name,
  app: {
    agents: [
      defineAgent({ id: 'host:boss', persona: 'Boss', instructions: 'You decide.', rehearsal: decides(decision) }),
    ],
    workflows: [
      defineWorkflow({ id: 'worker', version: '1', nodes: { rest: { type: 'core.noop' } } }),
      defineWorkflow({
        id: name,
        version: '1',
        nodes: {
          boss: {
            type: 'core.orchestrator.supervisor',
            agent: 'host:boss',
            config: { workers: [{ id: 'worker', description: 'Rests.' }] },
          },
          send: { type: 'core.dispatch', config },
          after: { type: 'core.noop' },
        },
      }),
    ],
  },
});

const asks: Story = {
  ...supervised('supervisor-asks', { kind: 'ask-user', prompt: 'How long?' }, { askUserRouting: 'clarification' }),
  async play(host) {
    const runId = await host.start('supervisor-asks');
    await host.answer(runId, 'send', { answers: { answer: 'One page.' } });
    await host.ended(runId);
    return runId;
  },
};

const doubts: Story = {
  ...supervised('supervisor-doubts', { kind: 'next-worker', nextWorkerIds: ['worker'], confidence: 0.2 }),
  async play(host) {
    const runId = await host.start('supervisor-doubts');
    await host.answer(runId, 'send', { action: 'accept' });
    await host.ended(runId);
    return runId;
  },
};

const ends: Story = {
  ...supervised('supervisor-ends', { kind: 'terminate', reason: 'goal-reached' }),
  async play(host) {
    const runId = await host.start('supervisor-ends');
    await host.ended(runId);
    return runId;
  },
};

/**
 * A supervisor, a worker with an agent two levels below it, tools, streams, reasoning, timers, and people who answer at
 * the top and at the bottom.
 */
export const newsroom: Story = {
  name: 'newsroom',
  app: {
    tools: [archive],
    agents: [
      defineAgent({
        id: 'host:editor',
        persona: 'Editor',
        instructions: 'You run a newsroom.',
        rehearsal: decides({ kind: 'next-worker', nextWorkerIds: ['reporting'], confidence: 0.9 }),
      }),
      defineAgent({
        id: 'host:writer',
        persona: 'Writer',
        instructions: 'You write the edition.',
        rehearsal: { turns: [[{ think: 'One page.' }, { say: ['Today: ', '{{input.story}}'] }]] },
      }),
      defineAgent({
        id: 'host:reporter',
        persona: 'Reporter',
        instructions: 'You find out what happened.',
        tools: [archive, 'openwop:ask'],
        rehearsal: {
          turns: [
            [{ think: 'The archive first.' }, { call: { tool: 'acme.archive:search', input: { text: 'bridges' } } }],
            [{ ask: 'May we quote the witness?' }],
            [{ say: ['The bridge ', 'is ', 'open.'] }],
          ],
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'interview',
        version: '1',
        variables: { text: { type: 'string' } },
        nodes: {
          work: {
            type: 'cairn.agent',
            agent: 'host:reporter',
            config: { reasoningVerbosity: 'full' },
            inputs: { topic: fixed('the bridge') },
          },
          keep: { type: 'core.setVariable', config: { name: 'text', expression: 'outputs.work.content' } },
        },
      }),
      defineWorkflow({
        id: 'reporting',
        version: '1',
        variables: { text: { type: 'string' } },
        nodes: {
          send: { type: 'core.subWorkflow', config: { workflowId: 'interview', outputMapping: { text: 'text' } } },
        },
      }),
      defineWorkflow({
        id: 'newsroom',
        version: '1',
        variables: { story: { type: 'string' } },
        nodes: {
          editor: {
            type: 'core.orchestrator.supervisor',
            agent: 'host:editor',
            config: { workers: [{ id: 'reporting', description: 'Finds out.' }] },
            inputs: { story: variable('story') },
          },
          desks: { type: 'core.dispatch', config: { outputMapping: { story: 'text' } } },
          sign: { type: 'core.approvalGate', config: { title: 'Print it?', timeoutMs: 600_000 } },
          dry: { type: 'core.delay', config: { delayMs: 2_000 } },
          edition: { type: 'cairn.agent', agent: 'host:writer', inputs: { story: variable('story') } },
        },
        edges: [
          { from: 'editor', to: 'desks' },
          { from: 'desks', to: 'sign' },
          { from: 'sign', to: 'dry', port: 'approved' },
          { from: 'dry', to: 'edition' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('newsroom');
    await host.answer(`${runId}.0.0` as RunId, 'work', { answers: { answer: 'Yes, by name.' } }, 'ben');
    await host.answer(runId, 'sign', { action: 'accept' });
    await host.row(runId, 'cairn.timer.set');
    host.pass(2_000);
    await host.ended(runId);
    return runId;
  },
};

export const familyStories: readonly Story[] = [nested, cancelled, parallel, racing, asks, doubts, ends, newsroom];
