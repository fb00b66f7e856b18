/** Runs of agents: tools, streams, reasoning, questions, handoffs, memory, reviews, templates, and what goes wrong. */
import { defineAgent, defineTool, defineWorkflow, fixed, TerminalError, z } from '../../../packages/host/src/index.ts';
import type { Story } from '../story.ts';
import { untilStopped } from './control.ts';

const dice = defineTool({
  id: 'acme.dice:roll',
  description: 'Rolls a die.',
  input: z.object({ sides: z.number() }),
  safety: 'pure',
  untrusted: false,
  run: ({ sides }) => {
    if (sides < 2) throw new TerminalError('tool_failed', { message: `No die has ${sides} sides.` });
    return { rolled: sides - 2 };
  },
});

const refund = defineTool({
  id: 'acme.shop:refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string(), euros: z.number() }),
  async run({ order, euros }, { ask, step, progress }) {
    progress(0.5, 'Asking.');
    const isApproved = await ask({ prompt: `Refund ${euros} € for ${order}?`, schema: z.boolean() });
    if (!isApproved) return { receipt: null };
    return { receipt: await step('pay', () => `receipt of ${order}`) };
  },
});

const roll = (sides: number) => ({ call: { tool: 'acme.dice:roll', input: { sides } } });

const tools: Story = {
  name: 'agent-with-tools',
  app: {
    tools: [dice],
    agents: [
      defineAgent({
        id: 'host:player',
        persona: 'Player',
        instructions: 'Roll the dice that you are told to.',
        tools: [dice],
        rehearsal: {
          turns: [
            [{ think: 'Two dice, and one that is none.' }, { say: 'I roll.' }, roll(6), roll(20), roll(1)],
            [{ think: ['Done', ' rolling.'] }, { say: ['I rolled ', '{{last.message}}', '; that is all.'] }],
          ],
        },
      }),
    ],
    prompts: [
      { templateId: 'golden.calm', version: '1.2.0', kind: 'system', text: 'Stay calm, {{name}}.' },
      { templateId: 'golden.task', version: '1.0.0', kind: 'user', text: 'Roll {{what}}.' },
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-with-tools',
        version: '1',
        nodes: {
          play: {
            type: 'cairn.agent',
            agent: 'host:player',
            config: {
              reasoningVerbosity: 'full',
              systemPromptRef: 'prompt:golden.calm',
              userPromptRef: 'prompt:golden.task@1.0.0',
            },
            inputs: { name: fixed('player'), what: fixed('some dice') },
          },
          end: { type: 'core.end' },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-with-tools');
    await host.ended(runId);
    return runId;
  },
};

const asking: Story = {
  name: 'agent-that-asks',
  app: {
    tools: [refund],
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'You pay orders back when customers ask for it.',
        tools: [refund, 'openwop:ask', 'openwop:handoff'],
        rehearsal: {
          turns: [
            [{ ask: { question: 'Which order?', choices: ['4711', '4712'] } }],
            [{ call: { tool: 'acme.shop:refund', input: { order: '4711', euros: 180 } } }],
            [{ handoff: { to: 'host:clerk', message: 'Write the letter.', reason: 'It is paid.' } }],
          ],
        },
      }),
      defineAgent({
        id: 'host:clerk',
        persona: 'Clerk',
        instructions: 'You write letters.',
        tools: ['openwop:decide'],
        confidenceThreshold: 0.8,
        rehearsal: {
          turns: [
            [
              {
                decide: {
                  decision: { letter: 'Dear customer' },
                  confidence: 0.4,
                  reasoning: 'Nobody told me their name.',
                },
              },
            ],
            [{ decide: { decision: { letter: 'Dear Ada' }, confidence: 0.9 } }],
          ],
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-that-asks',
        version: '1',
        nodes: { desk: { type: 'cairn.agent', agent: 'host:desk', inputs: { message: fixed('Please pay me back.') } } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-that-asks');
    await host.answer(runId, 'desk', { answers: { answer: '4711' } });
    await host.answer(runId, 'desk', { answers: { answer: true } }, 'ben');
    await host.answer(runId, 'desk', { action: 'reject', feedback: 'She is called Ada.' });
    await host.ended(runId);
    return runId;
  },
};

const memory: Story = {
  name: 'agent-with-memory',
  app: {
    agents: [
      defineAgent({
        id: 'host:clerk',
        persona: 'Clerk',
        instructions: 'You remember.',
        memory: { scratchpad: true, longTerm: true },
        tools: ['openwop:remember', 'openwop:recall', 'openwop:forget', 'openwop:time'],
        rehearsal: {
          turns: [
            [
              { call: { tool: 'openwop:remember', input: { content: 'Ada likes tea.', tags: ['ada'] } } },
              { call: { tool: 'openwop:time', input: {} } },
            ],
            [{ call: { tool: 'openwop:recall', input: { text: 'tea' } } }],
            [{ call: { tool: 'openwop:remember', input: { content: 'Ada likes coffee.', in: 'scratchpad' } } }],
            [{ call: { tool: 'openwop:forget', input: { id: '{{last.id}}' } } }],
            [{ say: 'I know it.' }],
          ],
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-with-memory',
        version: '1',
        nodes: { know: { type: 'cairn.agent', agent: 'host:clerk' } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-with-memory');
    await host.ended(runId);
    return runId;
  },
};

const failing: Story = {
  name: 'agent-in-trouble',
  app: {
    agents: [
      defineAgent({
        id: 'host:counter',
        persona: 'Counter',
        instructions: 'You count.',
        result: { type: 'object', properties: { words: { type: 'number' } }, required: ['words'] },
        rehearsal: {
          turns: [
            [
              { say: 'Well' },
              { fail: { class: 'overloaded', message: 'Later.', attempts: 1 } },
              { answer: { words: 'three' } },
            ],
            [{ answer: { words: 3 } }],
          ],
        },
      }),
      defineAgent({
        id: 'host:refuser',
        persona: 'Refuser',
        instructions: 'You refuse.',
        rehearsal: { turns: [[{ say: 'I will not.' }, { finish: 'content_filter' }]] },
      }),
      defineAgent({
        id: 'host:talker',
        persona: 'Talker',
        instructions: 'You never end.',
        tools: ['openwop:time'],
        rehearsal: { turns: Array.from({ length: 4 }, () => [{ call: { tool: 'openwop:time', input: {} } }]) },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-in-trouble',
        version: '1',
        nodes: {
          count: { type: 'core.ai.structuredOutput', agent: 'host:counter', inputs: { text: fixed('One two three') } },
          refuse: { type: 'core.ai.callPrompt', agent: 'host:refuser', config: { prompt: 'Do it.' } },
          talk: { type: 'cairn.agent', agent: 'host:talker', config: { limits: { maxTurns: 2 } } },
        },
        edges: [
          { from: 'count', to: 'refuse' },
          { from: 'refuse', to: 'talk', rule: 'all_complete' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-in-trouble');
    await host.row(runId, 'cairn.error');
    host.pass(60_000);
    await host.ended(runId);
    return runId;
  },
};

/** A host stops in the middle of a turn and of a tool that writes; the next one asks a person about the tool. */
const abandoned = (first = { isThere: true }): Story => ({
  name: 'agent-left-alone',
  app: {
    tools: [
      defineTool({
        id: 'acme.bank:pay',
        description: 'Pays.',
        input: z.object({ euros: z.number() }),
        run: (_, { signal, attempt }) => (first.isThere ? untilStopped(signal) : { attempt }),
      }),
    ],
    agents: [
      defineAgent({
        id: 'host:payer',
        persona: 'Payer',
        instructions: 'You pay.',
        tools: ['acme.bank:pay'],
        rehearsal: {
          turns: [
            [{ say: 'Paying ' }, { delay: 5_000 }, { call: { tool: 'acme.bank:pay', input: { euros: 3 } } }],
            [{ say: 'Paid.' }],
          ],
        },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-left-alone',
        version: '1',
        nodes: { pay: { type: 'cairn.agent', agent: 'host:payer' } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-left-alone');
    await host.row(runId, 'output.chunk');
    await host.stop();
    host.pass(60_000);
    await host.restart();
    await host.row(runId, 'output.chunk', 2);
    host.pass(5_000);
    await host.row(runId, 'agent.toolCalled');
    await host.stop();
    first.isThere = false;
    host.pass(60_000);
    await host.restart();
    await host.answer(runId, 'pay', { action: 'retry' });
    await host.ended(runId);
    return runId;
  },
});

/** An operator pauses and cancels a run whose agent is in the middle of a turn. */
const interrupted: Story = {
  name: 'agent-interrupted',
  app: {
    agents: [
      defineAgent({
        id: 'host:slow',
        persona: 'Slow',
        instructions: 'You take your time.',
        rehearsal: { turns: [[{ think: 'Slowly.' }, { say: 'First, ' }, { delay: 5_000 }, { say: 'second.' }]] },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'agent-interrupted',
        version: '1',
        nodes: { slow: { type: 'cairn.agent', agent: 'host:slow' } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('agent-interrupted');
    await host.row(runId, 'output.chunk');
    host.pass();
    await host.pause(runId, 'immediate');
    await host.row(runId, 'run.paused');
    host.pass();
    await host.resume(runId);
    await host.row(runId, 'output.chunk', 2);
    host.pass();
    await host.cancel(runId, 'Too slow.');
    await host.ended(runId);
    return runId;
  },
};

export const agentStories: readonly Story[] = [tools, asking, memory, failing, abandoned(), interrupted];
