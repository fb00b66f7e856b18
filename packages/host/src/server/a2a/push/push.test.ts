/** Push notifications, set by the published clients of both versions, and received on loopback. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keys, PeerHost, send, stateOf, taskIn } from '../peer.kit.ts';
import type { A2aVersion } from '../versions.ts';

interface Notified {
  readonly request: IncomingMessage;
  readonly task: JsonObject;
  readonly state: string;
}

let notified: Notified[] = [];
let respond: (response: ServerResponse) => void = () => undefined;
let heard: () => void = () => undefined;

const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body: JsonObject = JSON.parse(Buffer.concat(chunks).toString());
  const task = isJsonObject(body.task) ? body.task : body;
  const state = isJsonObject(task.status) ? String(task.status.state) : '';
  notified.push({ request, task, state });
  respond(response);
  heard();
});
const origin = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const reports: string[] = [];
const peer = new PeerHost(['1.0', '0.3'], { allow: () => [origin()], report: ({ event }) => void reports.push(event) });

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  await peer.start();
});
afterAll(async () => {
  await peer.close();
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  notified = [];
  respond = (response) => void response.writeHead(204).end();
});

/** Resolves once a notification fits. */
async function told(fits: (one: Notified) => boolean): Promise<Notified> {
  for (;;) {
    const found = notified.find(fits);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}

const SECRET = 'push-credentials-0123456789';
const config = (fields: object = {}) => ({
  tenant: '',
  taskId: '',
  id: '',
  url: `${origin()}/here`,
  token: 'push-token-0123456789',
  authentication: { scheme: 'Bearer', credentials: SECRET },
  ...fields,
});
const withPush = (request: ReturnType<typeof send>, fields: object = {}) => ({
  ...request,
  configuration: { ...request.configuration, taskPushNotificationConfig: config(fields) },
});
const done = { '1.0': 'TASK_STATE_COMPLETED', '0.3': 'completed' };

/** A task that asks, and so stays open. */
async function open(version: A2aVersion) {
  peer.work = async (context) => context.ask({ prompt: 'Which one?' });
  const client = await peer.client(version, { agentId: 'host:desk' });
  const task = taskIn(await client.sendMessage(send(peer.message('Go.'))));
  expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
  return { client, task, answer: () => client.sendMessage(send(peer.message('Red.', { taskId: task.id }))) };
}

describe.each<A2aVersion>(['1.0', '0.3'])('a client of %s', (version) => {
  it('brings an address with its message, and the task comes to it with token and credentials', async () => {
    const client = await peer.client(version);
    const task = taskIn(await client.sendMessage(withPush(send(peer.message('Hi.'), true))));
    const { request, task: pushed } = await told(({ state }) => state === done[version]);
    expect(pushed).toMatchObject({ id: task.id, contextId: task.contextId });
    expect(request.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'x-a2a-notification-token': 'push-token-0123456789',
      'content-type': version === '1.0' ? 'application/a2a+json' : 'application/json',
    });
    expect(JSON.stringify(pushed)).toContain('Hello.');
  });

  it('sets, gets, lists and deletes configurations, and never sees their secrets', async () => {
    const { client, task, answer } = await open(version);
    const taskId = task.id;
    const set = await client.createTaskPushNotificationConfig(config({ taskId, id: 'one' }));
    expect(set).toMatchObject({ taskId, id: 'one', url: `${origin()}/here`, token: '' });
    await client.createTaskPushNotificationConfig(config({ taskId, url: `${origin()}/other` }));
    const got = await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' });
    expect(got).toEqual(set);
    const page = { tenant: '', taskId, pageSize: 10, pageToken: '' };
    const { configs } = await client.listTaskPushNotificationConfig(page);
    expect(configs.map(({ id }) => id)).toEqual(['one', taskId]);
    expect(JSON.stringify([set, configs])).not.toMatch(/push-token|push-credentials/);
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' });
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' });
    await expect(client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' })).rejects.toThrow(/no such/);
    await answer();
    await told(({ state }) => state === done[version]);
    // Only news after it was set, and nothing for what was deleted.
    expect(new Set(notified.map(({ request }) => request.url))).toEqual(new Set(['/other']));
    expect(notified.every(({ state }) => !/input.required/i.test(state))).toBe(true);
  });
});

it('a decision that waits for review is told with its question', async () => {
  const client = await peer.client('1.0', { agentId: 'host:unsure' });
  await client.sendMessage(withPush(send(peer.message('Go.'), true)));
  const { task } = await told(({ state }) => state === 'TASK_STATE_INPUT_REQUIRED');
  expect(task).toMatchObject({ status: { message: { parts: [{ text: 'Confirm the decision.' }, {}] } } });
});

it('a receiver that fails is told again, and then how the task is by now', async () => {
  const { client, task, answer } = await open('1.0');
  await client.createTaskPushNotificationConfig(config({ taskId: task.id }));
  respond = (response) => void response.writeHead(notified.length < 2 ? 500 : 200).end();
  await answer();
  await told(() => notified.length >= 2);
  expect(notified.at(-1)).toMatchObject({ state: 'TASK_STATE_COMPLETED', task: { id: task.id } });
});

it('a configuration survives a restart, and tells what happened meanwhile', async () => {
  const { client, task } = await open('1.0');
  await client.createTaskPushNotificationConfig(config({ taskId: task.id, url: `${origin()}/restart` }));
  await peer.stop();
  await peer.start();
  const again = await peer.client('1.0');
  expect(notified).toEqual([]);
  await again.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  const { state, request } = await told(() => true);
  expect({ state, url: request.url }).toEqual({ state: 'TASK_STATE_CANCELED', url: '/restart' });
});

const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

it('a configuration that the host may not follow is refused, and starts nothing', async () => {
  const { task, answer } = await open('1.0');
  const set = (fields: object, options = {}) =>
    peer.rpc(call('CreateTaskPushNotificationConfig', config({ taskId: task.id, ...fields })), options);
  for (const url of [
    'http://127.0.0.1:1/',
    'http://169.254.169.254/',
    'https://localhost/',
    'ftp://example.org',
    'x',
  ]) {
    expect((await set({ url })).body).toMatchObject({ error: { code: -32602 } });
  }
  for (const fields of [{ token: 'a\r\nb: c' }, { authentication: { scheme: 'B c', credentials: 'x' } }, { url: '' }]) {
    expect((await set(fields)).body).toMatchObject({ error: { code: -32602 } });
  }
  expect((await set({}, { key: keys.other })).body).toMatchObject({ error: { code: -32001 } });
  expect((await set({}, { key: keys.reader })).status).toBe(403);
  const message = { messageId: 'push-bad', role: 'ROLE_USER', parts: [{ text: 'Hi.' }] };
  const bad = { message, configuration: { taskPushNotificationConfig: { url: 'https://10.0.0.1/' } } };
  expect((await peer.rpc(call('SendMessage', bad))).body).toMatchObject({ error: { code: -32602 } });
  const good = await peer.rpc(call('SendMessage', { message, configuration: { returnImmediately: true } }));
  expect(good.body).toHaveProperty('result.task');
  const eleven = await Promise.all(Array.from({ length: 11 }, (_, n) => set({ id: `n${n}`, url: `${origin()}/n` })));
  expect(eleven.filter(({ body }) => body.error !== undefined)).toMatchObject([{ body: { error: { code: -32004 } } }]);
  await answer();
  expect((await set({})).body).toMatchObject({ error: { code: -32004 } });
});

it('another tenant finds no configuration', async () => {
  const { client, task } = await open('1.0');
  await client.createTaskPushNotificationConfig(config({ taskId: task.id, id: 'mine' }));
  const named = { taskId: task.id, id: 'mine' };
  for (const method of ['Get', 'Delete'].map((verb) => `${verb}TaskPushNotificationConfig`)) {
    const { body } = await peer.rpc(call(method, named), { key: keys.other });
    expect(body).toMatchObject({ error: { code: -32001 } });
  }
  const listed = await peer.rpc(call('ListTaskPushNotificationConfigs', named), { key: keys.other });
  expect(listed.body).toMatchObject({ error: { code: -32001 } });
  await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
});

it('neither token nor credentials are in the data folder or in what operators read', async () => {
  await peer.stop();
  const files = readdirSync(peer.folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'latin1');
    expect(text.includes(SECRET) || text.includes('push-token-0123456789')).toBe(false);
  }
  expect(reports.filter((event) => event.startsWith('a2a.'))).toEqual([]);
});
