/** Tasks of conversations: messages, artifacts, typed thoughts, sign-ins. */
import type { JsonObject, RunId } from '@cairn/protocol';
import { defineAgent, defineTool, z } from '../../../packages/host/src/index.ts';
import { scopes } from '../../../packages/host/src/server/access/auth.ts';
import { encryptedTo } from '../../../packages/host/test/kit/encrypted-to.ts';
import { fields } from '../../../packages/host/test/kit/json-fields.ts';
import { type GoldenApp, type GoldenHost, goldenKey } from '../golden-host.ts';
import type { Story } from '../story.ts';

/** People speak through the routes of the task view, as `ann`. */
const overHttp: Pick<GoldenApp, 'http' | 'config'> = {
  http: true,
  config: { keys: [{ key: goldenKey, tenant: 'golden', principal: 'ann', scopes: [...scopes] }] },
};

async function post(host: GoldenHost, path: string, body: JsonObject): Promise<JsonObject> {
  const response = await fetch(host.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${goldenKey}`,
      'content-type': 'application/json',
      prefer: 'respond-async',
    },
    body: JSON.stringify(body),
  });
  return fields(await response.json());
}

async function say(host: GoldenHost, content: string, more: JsonObject = {}) {
  const body = await post(host, '/api/messages', { message: { role: 'user', content }, ...more });
  return { runId: String(body.taskId) as RunId, contextId: String(body.contextId) };
}

const report = defineTool({
  id: 'acme.press:report',
  description: 'Writes a report.',
  input: z.object({ title: z.string() }),
  safety: 'idempotent',
  async run({ title }, { progress, think, file, data, dataset }) {
    progress(0.2, 'Plan.');
    await think('A short report will do.', { type: 'planning', confidence: 0.9, alternatives: ['A long one.'] });
    const text = file('report.md', { description: 'The report' });
    await text.write(`# ${title}\n`);
    await text.write('Žluťoučký kůň. 😀\n');
    const { artifactId } = await text.close();
    const bytes = file('picture.bin');
    await bytes.write(Uint8Array.from({ length: 300 }, (_, i) => i % 256));
    await bytes.close();
    await data('totals', { words: 2 });
    await data('totals', { words: 3 }, { expectedVersion: 1 });
    const rows = dataset('people', { schema: { type: 'object', required: ['id'] } });
    await rows.write([{ id: 1 }, { id: 2 }]);
    await rows.close();
    await think('The totals changed.', { type: 'observation', verbosity: 'brief', relatedTo: artifactId });
    progress(1, 'Done.');
    return { artifactId };
  },
});

const artifacts: Story = {
  name: 'task-with-artifacts',
  app: {
    ...overHttp,
    tools: [report],
    agents: [
      defineAgent({
        id: 'host:press',
        persona: 'Press',
        instructions: 'You write reports.',
        tools: [report],
        rehearsal: {
          turns: [
            [
              { think: 'Which title?' },
              { say: 'I write it.' },
              { call: { tool: report.id, input: { title: 'Parcels' } } },
            ],
            [{ think: 'That was all.' }, { say: 'It is written.' }],
          ],
        },
      }),
    ],
  },
  async play(host) {
    const first = await say(host, 'Write it.', { agentId: 'host:press' });
    await host.ended(first.runId);
    host.pass();
    // The second task of the context writes the next versions.
    const { runId } = await say(host, 'And again.', { contextId: first.contextId });
    await host.ended(runId);
    return runId;
  },
};

const ledger = defineTool({
  id: 'acme.bank:ledger',
  description: 'Reads the ledger of the user.',
  input: z.object({}),
  safety: 'read',
  run: async (_input, { signIn }) => {
    const { provider, credentialRef } = await signIn({ provider: 'ledger', prompt: 'Your key, please.' });
    return { provider, hasRef: credentialRef.startsWith('cred_') };
  },
});

/** The sign-in that a task waits for. */
async function asked(host: GoldenHost, runId: RunId, count: number): Promise<JsonObject> {
  const { task } = await host.row(runId, 'interrupt.requested', count);
  return fields(JSON.parse(task ?? '{}'));
}

const signIns: Story = {
  name: 'task-with-sign-ins',
  app: {
    ...overHttp,
    config: { ...overHttp.config, signIns: { ledger: { kind: 'api-key' } } },
    tools: [ledger],
    agents: [
      defineAgent({
        id: 'host:bank',
        persona: 'Bank',
        instructions: 'You read ledgers.',
        tools: [ledger],
        rehearsal: {
          turns: [
            [{ call: { tool: ledger.id, input: {} } }],
            [{ say: 'Once more.' }, { call: { tool: ledger.id, input: {} } }],
            [{ say: 'It is balanced.' }],
          ],
        },
      }),
    ],
  },
  async play(host) {
    const { runId, contextId } = await say(host, 'Read it.', { agentId: 'host:bank' });
    const refused = await asked(host, runId, 1);
    host.pass();
    await post(host, `/api/contexts/${contextId}/auths/${String(refused.authId)}`, { denied: true });
    const { authId, encryptionKey } = await asked(host, runId, 2);
    host.pass();
    const credential = await encryptedTo(encryptionKey, 'a-ledger-key-of-ann');
    await post(host, `/api/contexts/${contextId}/auths/${String(authId)}`, { credential });
    await host.ended(runId);
    return runId;
  },
};

const queued: Story = {
  name: 'task-that-waits-its-turn',
  app: {
    ...overHttp,
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'You answer.',
        tools: ['openwop:ask'],
        rehearsal: { turns: [[{ ask: { question: 'Which one?', choices: ['red', 'green'] } }], [{ say: 'Fine.' }]] },
      }),
    ],
  },
  async play(host) {
    const first = await say(host, 'Paint it.', { agentId: 'host:desk' });
    const { inputId } = await asked(host, first.runId, 1);
    const { runId } = await say(host, 'And the door.', { contextId: first.contextId });
    host.pass();
    await post(host, `/api/contexts/${first.contextId}/inputs/${String(inputId)}`, { value: 'red' });
    await host.ended(first.runId);
    const second = await asked(host, runId, 1);
    host.pass();
    await post(host, `/api/contexts/${first.contextId}/inputs/${String(second.inputId)}`, { value: 'green' });
    await host.ended(runId);
    return runId;
  },
};

export const taskStories: readonly Story[] = [artifacts, signIns, queued];
