/** Thoughts that a host keeps for operators are in no view of clients, neither as thoughts nor as run events. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';

const keys = { ann: 'ann-key-0123456789-abcdefghijklmnop', root: 'root-key-0123456789-abcdefghijklmno' };
const SECRET = 'sk-proj-4Zq8-a-secret-of-the-host';

let host: Host;
let contextId: string;
let runId: string;

beforeAll(async () => {
  const muse = defineTool({
    id: 'acme.desk:muse',
    description: 'Muses.',
    input: z.object({}),
    safety: 'idempotent',
    run: async (_, { think }) => {
      await think('quite sure', { type: 'planning', confidence: 0.9 });
      await think('hardly sure', { type: 'decision', confidence: 0.1 });
      await think('between us', { visibility: 'operator' });
      return null;
    },
  });
  host = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    tools: [muse],
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'Do it.',
        tools: ['acme.desk:muse'],
        rehearsal: {
          turns: [
            [
              { think: ['The key is sk-proj-4Z', 'q8-a-secret-of', '-the-host, I think.'] },
              { call: { tool: 'acme.desk:muse', input: {} } },
            ],
            [{ say: 'Done.' }],
          ],
        },
      }),
    ],
    config: {
      port: 0,
      visibility: { minConfidence: 0.5 },
      secrets: { crm: { value: SECRET } },
      keys: [
        { key: keys.ann, tenant: 't', principal: 'ann', scopes: ['runs:create', 'runs:read'] },
        { key: keys.root, tenant: 't', principal: 'root', scopes: ['runs:read', 'audit:read'] },
      ],
    },
  });
  const response = await fetch(`${host.url}/api/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.ann}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'host:desk', message: { role: 'user', content: 'Go.' } }),
  });
  await response.text();
  contextId = String(response.headers.get('cairn-context-id'));
  runId = String(response.headers.get('cairn-task-id'));
});
afterAll(() => host.close());

const read = async (path: string, key: string): Promise<string> =>
  (await fetch(`${host.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).text();

it('shows clients only what is neither private nor below the floor, in every view', async () => {
  const views = [
    `/api/contexts/${contextId}/events?limit=500&debug=1&verbosity=detailed`,
    `/v1/runs/${runId}/events/poll`,
  ];
  for (const view of views) {
    const seen = await read(view, keys.ann);
    expect(seen).toContain('quite sure');
    expect(seen).not.toContain('hardly sure');
    expect(seen).not.toContain('between us');
  }
});

it('shows operators all of it, as thoughts only when they ask', async () => {
  const events = `/api/contexts/${contextId}/events?limit=500`;
  expect(await read(`${events}&debug=1`, keys.root)).toContain('"content":"between us"');
  expect(await read(`${events}&debug=1`, keys.root)).toContain('"content":"hardly sure"');
  expect(await read(events, keys.root)).not.toContain('between us');
});

it('redacts a secret that the model says in pieces', async () => {
  const seen = await read(`/api/contexts/${contextId}/events?limit=500&debug=1&verbosity=detailed`, keys.root);
  expect(seen).toContain(', I think.');
  expect(seen).not.toContain('secret-of');
  expect(seen).not.toContain(SECRET);
});
