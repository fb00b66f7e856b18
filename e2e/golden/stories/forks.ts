/** Forks: a branch that reuses and changes calls, a retry of a failed run, and a replay. */
import {
  defineAgent,
  defineStep,
  defineTool,
  defineWorkflow,
  fixed,
  TerminalError,
  z,
} from '../../../packages/host/src/index.ts';
import type { RunId } from '../../../packages/protocol/src/index.ts';
import type { GoldenHost } from '../golden-host.ts';
import type { Story } from '../story.ts';

const lookup = defineTool({
  id: 'acme.stock:lookup',
  description: 'Looks a part up.',
  input: z.object({ part: z.string() }),
  safety: 'read',
  run: ({ part }) => ({ part, left: part.length }),
});

const app: Story['app'] = {
  tools: [lookup],
  agents: [
    defineAgent({
      id: 'host:clerk',
      persona: 'Clerk',
      instructions: 'You look parts up.',
      tools: [lookup],
      rehearsal: {
        turns: [
          [{ call: { tool: 'acme.stock:lookup', input: { part: 'bolt' } } }],
          [{ say: '{{last.left}} are left.' }],
        ],
      },
    }),
  ],
  workflows: [
    defineWorkflow({
      id: 'stock',
      version: '1',
      nodes: {
        ask: { type: 'core.approvalGate', config: { title: 'Look?' } },
        look: { type: 'cairn.agent', agent: 'host:clerk', inputs: { message: fixed('Bolts.') } },
      },
    }),
  ],
};

async function source(host: GoldenHost): Promise<RunId> {
  const runId = await host.start('stock');
  await host.answer(runId, 'ask', { action: 'accept' });
  await host.ended(runId);
  return runId;
}

const branch: Story = {
  name: 'branch',
  app,
  async play(host) {
    const runId = await source(host);
    const { seq } = await host.row(runId, 'node.started', 2);
    const overlay = { prompts: { 'host:clerk': 'You look parts up with care.' } };
    const rules = [
      { calls: 'tool:acme.stock:lookup', use: 'reuse' },
      { calls: 'model:*', use: 'ask' },
    ] as const;
    const forked = await host.fork({
      runId,
      mode: 'branch',
      fromSeq: seq,
      overlay,
      rules,
      options: { tags: ['careful'] },
    });
    await host.answer(forked.runId, 'look', { action: 'run' });
    await host.answer(forked.runId, 'look', { action: 'run' });
    await host.ended(forked.runId);
    return forked.runId;
  },
};

const replay: Story = {
  name: 'replay',
  app,
  async play(host) {
    const runId = await source(host);
    const { seq } = await host.row(runId, 'interrupt.resolved');
    const forked = await host.fork({ runId, mode: 'replay', fromSeq: seq });
    await host.ended(forked.runId);
    return forked.runId;
  },
};

const retry = (times = { count: 0 }): Story => ({
  name: 'retry',
  app: {
    steps: [
      defineStep({
        name: 'once',
        safety: 'write',
        run: async () => {
          times.count += 1;
          if (times.count === 1) throw new TerminalError('conflict', { message: 'Not today.' });
          return { times: times.count };
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'retry',
        version: '1',
        nodes: { before: { type: 'core.identity', inputs: { n: fixed(1) } }, once: { type: 'local.step.once' } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('retry');
    await host.ended(runId);
    host.pass();
    const forked = await host.retry(runId);
    await host.ended(forked.runId);
    return forked.runId;
  },
});

export const forkStories: readonly Story[] = [branch, replay, retry()];
