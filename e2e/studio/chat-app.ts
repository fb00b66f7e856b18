/** Agents to talk to in the tests of Studio: one that asks and writes a file as the test lets it, one that means harm. */
import { defineAgent, defineTool, z } from '../../packages/host/src/index.ts';

/** Steps of the tool that wait for the test, and tests that wait for a step; never both. */
const steps: (() => void)[] = [];
const tests: (() => void)[] = [];

const hold = () =>
  new Promise<void>((resolve) => {
    const test = tests.shift();
    if (test === undefined) steps.push(resolve);
    else {
      resolve();
      test();
    }
  });

/** Lets the tool go on to its next step, as soon as it waits there. */
export const goOn = () =>
  new Promise<void>((resolve) => {
    const step = steps.shift();
    if (step === undefined) tests.push(resolve);
    else {
      step();
      resolve();
    }
  });

const wishes = z.object({
  travellers: z.int().min(1).max(9),
  start: z.enum(['Monday', 'Friday']),
});

const trip = defineTool({
  id: 'test:trip',
  description: 'Plans a trip with the user.',
  input: z.object({ place: z.string() }),
  safety: 'idempotent',
  async run({ place }, { ask, file, dataset, progress }) {
    const { travellers, start } = await ask({ prompt: `How shall the trip to ${place} be?`, schema: wishes });
    const plan = file('plan.md', { mimeType: 'text/markdown' });
    await plan.write(`# A trip to ${place}\n\n${travellers} travellers, from ${start} on.\n`);
    progress(0.4, 'stage 1 of 2');
    await hold();
    await plan.write('\n- Along the **river**\n- Over the ridge <img src=x onerror="window.hacked=1">\n');
    await plan.close();
    const stages = dataset('stages');
    await stages.write([
      { day: 1, stage: 'Along the river', km: 12 },
      { day: 2, stage: 'Over the ridge', km: 17 },
    ]);
    await stages.close();
    return { planned: true };
  },
});

const ledger = defineTool({
  id: 'test:ledger',
  description: 'Reads the ledger of the user.',
  input: z.object({}),
  safety: 'read',
  async run(_input, { signIn }) {
    const account = await signIn({ provider: 'ledger', prompt: 'I need the key of your ledger.' });
    return { balance: (await account.token()).length * 100 };
  },
});

const wait = defineTool({
  id: 'test:wait',
  description: 'Waits until it is stopped.',
  input: z.object({}),
  safety: 'read',
  run: (_input, { signal }) =>
    new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
});

const planner = defineAgent({
  id: 'host:planner',
  persona: 'Planner',
  label: 'Trip planner',
  description: 'Plans trips. Asks what it needs to know, then writes the plan.',
  instructions: 'You plan trips.',
  tools: [trip],
  rehearsal: {
    turns: [
      [
        { think: 'A trip. I have to know the dates first.' },
        { say: 'I look for a **good route**.' },
        { call: { tool: 'test:trip', input: { place: 'the coast' } } },
      ],
      [{ say: 'Your plan is ready.' }],
    ],
  },
});

const bookkeeper = defineAgent({
  id: 'host:bookkeeper',
  persona: 'Bookkeeper',
  instructions: 'You read the ledger of the user.',
  tools: [ledger],
  rehearsal: {
    turns: [
      [{ say: 'I open your ledger.' }, { call: { tool: 'test:ledger' } }],
      [{ say: 'Your balance is {{last.balance}}.' }],
    ],
  },
});

/** Its task is more than a message. */
const critic = defineAgent({
  id: 'host:critic',
  persona: 'Critic',
  instructions: 'You judge a work.',
  task: z.object({ work: z.string() }),
  rehearsal: { turns: [[{ say: 'I heard of {{task}}' }]] },
});

const sleeper = defineAgent({
  id: 'host:sleeper',
  persona: 'Sleeper',
  instructions: 'You wait.',
  tools: [wait],
  rehearsal: { turns: [[{ say: 'I wait.' }, { call: { tool: 'test:wait' } }], [{ say: 'Done.' }]] },
});

const echo = defineAgent({
  id: 'host:echo',
  persona: 'Echo',
  instructions: 'You repeat what you hear.',
  rehearsal: { turns: [[{ say: 'You said: {{task}}' }]] },
});

/** What an agent may say to attack its reader. */
export const attacks = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '[press me](javascript:window.hacked=1)',
  '[or me](data:text/html,<script>window.hacked=1</script>)',
];

const prankster = defineAgent({
  id: 'host:prankster',
  persona: 'Prankster',
  instructions: 'You mean harm.',
  rehearsal: { turns: [[{ think: attacks.join(' ') }, { say: attacks.join('\n\n') }]] },
});

export const chatApp = {
  agents: [planner, bookkeeper, critic, sleeper, echo, prankster],
  tools: [trip, ledger, wait],
};
