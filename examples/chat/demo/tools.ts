/** Tools that show what a front end has to deal with: progress, questions, sign-ins, files that fill. */
import { setTimeout as pause } from 'node:timers/promises';
import { defineTool, z } from '@cairn/host';

const wishes = z.object({
  travellers: z.int().min(1).max(9).default(2),
  start: z.enum(['Monday', 'Wednesday', 'Friday']),
  vegetarian: z.boolean().default(false),
  stops: z.array(z.string()).describe('Places that you do not want to miss.'),
  budget: z.object({ amount: z.number().min(0), currency: z.enum(['EUR', 'CHF']) }),
});

const stages = [
  ['From the station along the river', 12],
  ['Over the ridge, with a view of both bays', 17],
  ['Down through the pine wood to the sea', 9],
  ['Along the cliffs to the lighthouse', 14],
] as const;

export const trip = defineTool({
  id: 'demo:trip',
  description: 'Plans a trip with the user.',
  input: z.object({ place: z.string() }),
  safety: 'idempotent',
  async run({ place }, { ask, file, dataset, progress, think, signal }) {
    const { travellers, start, stops } = await ask({ prompt: `How shall the trip to ${place} be?`, schema: wishes });
    const isSure = await ask({ prompt: `Shall I plan it for ${travellers}, from ${start} on?`, schema: z.boolean() });
    if (!isSure) return { planned: false };
    await think('The ridge is the longest stage. It comes second, when everybody is awake.', { type: 'planning' });
    const plan = file('plan.md', { mimeType: 'text/markdown' });
    await plan.write(`# A trip to ${place}\n\n${travellers} travellers, from ${start} on.\n`);
    for (const [at, [stage, km]] of stages.entries()) {
      progress(at / stages.length, `stage ${at + 1} of ${stages.length}`);
      await plan.write(`\n## Day ${at + 1}\n\n`);
      for (const word of `${stage}, ${km} km.`.split(/(?<= )/)) {
        await pause(40, undefined, { signal });
        await plan.write(word);
      }
      await plan.write('\n');
    }
    if (stops.length > 0) await plan.write(`\nOn the way: ${stops.join(', ')}.\n`);
    await plan.close();
    const table = dataset('stages');
    await table.write(stages.map(([stage, km], at) => ({ day: at + 1, stage, km })));
    await table.close();
    progress(1, 'done');
    return { planned: true };
  },
});

/** Where the forge is. The demo sets it when its forge is ready. */
export const forge = { url: '' };

export const whoami = defineTool({
  id: 'demo:whoami',
  description: 'Says who the user is at the forge.',
  input: z.object({}),
  safety: 'read',
  async run(_input, { signIn }) {
    const account = await signIn({ provider: 'forge', scopes: ['read:user'], prompt: 'Sign in to the forge.' });
    const headers = { authorization: `Bearer ${await account.token()}` };
    const { login } = z.object({ login: z.string() }).parse(await (await fetch(`${forge.url}/me`, { headers })).json());
    return { login };
  },
});

export const ledger = defineTool({
  id: 'demo:ledger',
  description: 'Reads the ledger of the user.',
  input: z.object({}),
  safety: 'read',
  async run(_input, { signIn }) {
    const account = await signIn({ provider: 'ledger', prompt: 'I need the key of your ledger. Any text does here.' });
    return { balance: `${(await account.token()).length * 100} EUR` };
  },
});

export const dry = defineTool({
  id: 'demo:dry',
  description: 'Waits until the paint is dry.',
  input: z.object({}),
  safety: 'read',
  async run(_input, { progress, signal }) {
    for (let minute = 1; minute <= 30; minute += 1) {
      await pause(1_000, undefined, { signal });
      progress(minute / 30, `${minute} of 30 minutes`);
    }
    return { isDry: true };
  },
});

export const report = defineTool({
  id: 'demo:report',
  description: 'Walks a path and reports.',
  input: z.object({}),
  safety: 'read',
  async run(_input, { progress, data, signal }) {
    for (let step = 1; step <= 5; step += 1) {
      await pause(250, undefined, { signal });
      progress(step / 5, `${step * 200} m`);
    }
    await data('ground', { path: 'north', isDry: true, metres: 1000 });
    return { isOpen: true };
  },
});
