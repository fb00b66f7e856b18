/** The program of these tests: agents and tools that produce every kind of task event, and a tree of workflows. */
import { z } from 'zod';
import {
  type ConfigInput,
  defineAgent,
  defineTool,
  defineWorkflow,
  type HostOptions,
} from '../../packages/host/src/index.ts';

export const keys = {
  ann: 'desk-ann-5Gt0QxvR8mLzWc2uYh71',
  bob: 'desk-bob-N4kPz9sVb6TqJf3eXd80',
  eve: 'desk-eve-Hy2Lw7rCm5ZnKq1oGa64',
  operator: 'desk-operator-Ub8Jt3xEs9VdRi6pMf',
};

const work = defineTool({
  id: 'desk:work',
  description: 'Writes a report.',
  input: z.object({ title: z.string() }),
  safety: 'idempotent',
  async run({ title }, { progress, think, file, data, dataset }) {
    progress(0.1, 'plan');
    await think('A report needs a plan.', { type: 'planning', confidence: 0.9, alternatives: ['A table.'] });
    const report = file('report.md', { description: 'The report' });
    await report.write(`# ${title}\n`);
    progress(0.5, 'write');
    await report.write('Žluťoučký kůň. 😀\n');
    await report.close();
    await data('totals', { sum: title.length });
    const people = dataset('people', { schema: { type: 'object', required: ['id'] } });
    await people.write([{ id: 1 }]);
    await people.write([{ id: 2 }, { id: 3 }]);
    await people.close();
    progress(1, 'done');
    return { written: title };
  },
});

const ask = defineTool({
  id: 'desk:ask',
  description: 'Asks the user.',
  input: z.object({}),
  safety: 'idempotent',
  run: (_input, context) =>
    context.ask({ prompt: 'Which colour?', schema: z.enum(['red', 'green']), requireUser: true }),
});

/** Works until it is stopped. */
const stuck = defineTool({
  id: 'desk:stuck',
  description: 'Takes for ever.',
  input: z.object({}),
  safety: 'idempotent',
  run: (_input, { signal }) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
});

const broken = defineTool({
  id: 'desk:broken',
  description: 'Fails.',
  input: z.object({}),
  safety: 'idempotent',
  run: async () => {
    throw new Error('It is broken.');
  },
});

const ledger = defineTool({
  id: 'desk:ledger',
  description: 'Reads the ledger of the user.',
  input: z.object({}),
  safety: 'read',
  run: async (_input, { signIn }) => ({ ref: (await signIn({ provider: 'ledger' })).credentialRef }),
});

/** A tool that the client executes, for the picker. */
export const clientTools = [{ name: 'pick_color', parameters: { type: 'object' } }];

const tools = [work, ask, stuck, broken, ledger];

/** What the model of an agent does, by its instructions: `desk-model.ts` reads them. */
const agent = (name: string) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: `You are the ${name}.`,
    tools: [...tools.map(({ id }) => id), 'client:*'],
  });

const below = (workflowId: string) => ({ type: 'core.subWorkflow' as const, config: { workflowId } });

export const desk: Pick<HostOptions, 'agents' | 'tools' | 'workflows'> = {
  tools,
  agents: ['desk', 'picker', 'worker', 'asker', 'sleeper', 'breaker', 'dreamer', 'clerk', 'faller'].map(agent),
  workflows: [
    defineWorkflow({ id: 'inner', nodes: { work: { type: 'cairn.agent', agent: { agentId: 'host:clerk' } } } }),
    defineWorkflow({ id: 'middle', nodes: { sub: below('inner') } }),
    defineWorkflow({ id: 'outer', nodes: { sub: below('middle') } }),
  ],
};

export const deskConfig = (modelUrl: string): ConfigInput => ({
  port: 0,
  defaultAgent: 'host:desk',
  keys: [
    { key: keys.ann, tenant: 'desk', principal: 'ann' },
    { key: keys.bob, tenant: 'desk', principal: 'bob' },
    { key: keys.eve, tenant: 'elsewhere', principal: 'eve' },
    { key: keys.operator, tenant: 'desk', principal: 'root', scopes: ['runs:create', 'runs:read', 'audit:read'] },
  ],
  agents: { internalEvents: true },
  signIns: { ledger: { kind: 'api-key' } },
  models: {
    providers: { local: { kind: 'openai-compatible', baseUrl: modelUrl } },
    default: 'local/small',
  },
});
