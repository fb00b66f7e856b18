/** Whatever the client changes, it changes once, also when the host acted and its answer never arrived. */
import { type Client, createClient } from '@cairn/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { type ClientHost, clientHost, key, plain } from './client-host.ts';

let host: ClientHost;
let client: Client;

beforeAll(async () => {
  host = await clientHost();
  client = createClient({ url: host.url, key });
});

afterAll(() => host[Symbol.asyncDispose]());

/** A client to whom the answer of each first try is lost after the host has acted. */
function unlucky(): { readonly client: Client; readonly sent: Response[] } {
  const sent: Response[] = [];
  const lost = new Set<string>();
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    sent.push(response);
    const request = `${init?.method} ${String(input)}`;
    if (lost.has(request)) return response;
    lost.add(request);
    await response.arrayBuffer();
    throw new TypeError('the connection was lost');
  };
  return { client: createClient({ url: host.url, key, fetch: losing }), sent };
}

const accept = { action: 'accept' };

async function waitingRun(): Promise<string> {
  const { runId } = await client.runs.create({ workflowId: 'gated' });
  await client.runs.wait(runId);
  return runId;
}

/** The change, with what it needs made beforehand. */
const changes: Readonly<Record<string, () => Promise<(client: Client) => Promise<unknown>>>> = {
  create: async () => (luckless) => luckless.runs.create({ workflowId: 'plain', tags: ['lost'] }),
  answer: async () => {
    const runId = await waitingRun();
    return (luckless) => luckless.runs.answer(runId, 'approve', accept);
  },
  cancel: async () => {
    const runId = await waitingRun();
    return (luckless) => luckless.runs.cancel(runId);
  },
  bulkCancel: async () => {
    const runId = await waitingRun();
    return (luckless) => luckless.runs.bulkCancel([runId]);
  },
  register: async () => (luckless) => luckless.workflows.register({ ...plain, version: '2.0.0' }),
  resolve: async () => {
    const { token } = await client.interrupts.token(await waitingRun(), 'approve');
    return (luckless) => luckless.interrupts.resolve(token, accept);
  },
  webhook: async () => (luckless) => luckless.webhooks.register({ url: host.receiver, events: ['run.failed'] }),
  deletion: async () => {
    const { webhookId } = await client.webhooks.register({ url: host.receiver, events: ['run.failed'] });
    return (luckless) => luckless.webhooks.delete(webhookId);
  },
};

test.each(Object.entries(changes))('%s: the second try gets the answer of the first', async (_name, prepare) => {
  const act = await prepare();
  const { client: luckless, sent } = unlucky();
  await act(luckless);
  expect(sent.map(({ ok, headers }) => [ok, headers.get('openwop-idempotent-replay')])).toEqual([
    [true, null],
    [true, 'true'],
  ]);
});

test('a run whose creation was answered twice is there once', async () => {
  const { client: luckless } = unlucky();
  const { runId } = await luckless.runs.create({ workflowId: 'plain', tags: ['single'] });
  const { runs } = await client.runs.list({ tag: 'single' });
  expect(runs.map((run) => run.runId)).toEqual([runId]);
});

test('a pause whose answer was lost is no conflict with itself', async () => {
  const slow = {
    ...plain,
    id: 'slow',
    nodes: [{ ...present(plain.nodes[0]), typeId: 'core.delay', config: { delayMs: 600_000 } }],
  };
  await client.workflows.register(slow);
  const { runId } = await client.runs.create({ workflowId: 'slow' });
  const { client: luckless } = unlucky();
  expect(await luckless.runs.pause(runId, { drainPolicy: 'immediate' })).toMatchObject({ status: 'paused' });
  await expect(client.runs.pause(runId)).rejects.toMatchObject({ status: 409 });
  expect(await luckless.runs.resume(runId)).toMatchObject({ status: 'running' });
  await client.runs.cancel(runId);
});
