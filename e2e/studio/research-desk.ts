/** A small research desk for tests of Studio: agents that think, call tools, write Markdown, ask, and start child runs. */
import { defineAgent, defineTool, defineWorkflow, fixed, variable, z } from '../../packages/host/src/index.ts';

/** What a hostile page or model may send. Nothing of it may run. */
const attack = [
  '<script>globalThis.wasAttacked = true</script>',
  '<img src=x onerror="globalThis.wasAttacked = true">',
  '<svg onload="globalThis.wasAttacked = true"><a href="javascript:globalThis.wasAttacked=true">x</a></svg>',
  '[click](javascript:globalThis.wasAttacked=true)',
].join('\n\n');

const search = defineTool({
  id: 'acme.web:search',
  description: 'Searches the archive.',
  input: z.object({ text: z.string() }),
  safety: 'read',
  run: ({ text }, { progress }) => {
    progress(0.4, 'Asking the archive');
    return { found: [`A page about ${text}`, 'A second page'], raw: attack };
  },
});

const weigh = defineTool({
  id: 'acme.lab:weigh',
  description: 'Weighs a sample.',
  input: z.object({ sample: z.string() }),
  safety: 'pure',
  run: ({ sample }) => {
    if (sample === 'air') throw new Error('The scales do not move.');
    return { grams: sample.length * 12 };
  },
});

/** Runs until it is stopped. */
const dig = defineTool({
  id: 'acme.site:dig',
  description: 'Digs.',
  input: z.object({ metres: z.number() }),
  safety: 'idempotent',
  run: (_, { progress, signal }) => {
    progress(0.25, 'Digging, 1 of 4 m');
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
});

const summary = [
  '## What the desk found\n\n',
  'The **bridge** is open. Two sources agree, see [the archive](https://archive.example.org/bridge).\n\n',
  '- It was closed for *three* days.\n- Nobody was hurt.\n\n',
  '```sh\ncairn why RUN 12\n```\n\n',
  attack,
];

export const desk = {
  tools: [search, weigh, dig],
  agents: [
    defineAgent({
      id: 'host:researcher',
      persona: 'Researcher',
      instructions: 'You find out what happened.',
      tools: [search, weigh],
      rehearsal: {
        turns: [
          [
            { think: 'The archive first, then the samples. Two of them can be weighed at once.' },
            { say: 'I look into the archive.' },
            { call: { tool: 'acme.web:search', input: { text: 'bridges' } } },
            { call: { tool: 'acme.lab:weigh', input: { sample: 'granite' } } },
            { call: { tool: 'acme.lab:weigh', input: { sample: 'air' } } },
          ],
          [{ think: 'Both sources agree.' }, { say: summary }],
        ],
      },
    }),
    defineAgent({
      id: 'host:writer',
      persona: 'Writer',
      instructions: 'You write the report.',
      rehearsal: { turns: [[{ think: 'One page.' }, { say: ['# Report\n\n', 'The bridge is open.'] }]] },
    }),
    defineAgent({
      id: 'host:digger',
      persona: 'Digger',
      instructions: 'You dig.',
      tools: [dig],
      rehearsal: {
        turns: [[{ say: 'I dig.' }, { call: { tool: 'acme.site:dig', input: { metres: 4 } } }], [{ say: 'Done.' }]],
      },
    }),
  ],
  workflows: [
    defineWorkflow({
      id: 'survey',
      version: '1',
      variables: { text: { type: 'string' } },
      nodes: {
        work: {
          type: 'cairn.agent',
          agent: 'host:researcher',
          config: { reasoningVerbosity: 'full' },
          inputs: { topic: fixed('the bridge') },
        },
        keep: { type: 'core.setVariable', config: { name: 'text', expression: 'outputs.work.content' } },
      },
    }),
    defineWorkflow({
      id: 'report',
      version: '1',
      variables: { topic: { type: 'string', defaultValue: 'bridges' }, text: { type: 'string' } },
      nodes: {
        research: {
          type: 'cairn.agent',
          agent: 'host:researcher',
          config: { reasoningVerbosity: 'full' },
          inputs: { topic: variable('topic') },
        },
        survey: { type: 'core.subWorkflow', config: { workflowId: 'survey', outputMapping: { text: 'text' } } },
        sign: { type: 'core.approvalGate', config: { title: 'Publish the report?' } },
        rest: { type: 'core.delay', config: { delayMs: 300 } },
        write: { type: 'cairn.agent', agent: 'host:writer', inputs: { text: variable('text') } },
      },
      edges: [
        { from: 'research', to: 'survey' },
        { from: 'survey', to: 'sign' },
        { from: 'sign', to: 'rest', port: 'approved' },
        { from: 'rest', to: 'write' },
      ],
    }),
    defineWorkflow({
      id: 'dig',
      version: '1',
      nodes: { dig: { type: 'cairn.agent', agent: 'host:digger', inputs: { where: fixed('here') } } },
    }),
  ],
};
