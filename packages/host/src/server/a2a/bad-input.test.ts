/** What no client should send, and what it gets for it. Nothing starts, nothing leaks, nothing is guessed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keys, PeerHost } from './peer.kit.ts';

const peer = new PeerHost(['1.0']);
beforeAll(() => peer.start());
afterAll(() => peer.close());

let count = 0;
const call = (method: string, params: unknown = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const message = (fields: object = {}) => {
  count += 1;
  return { messageId: `bad-${count}`, role: 'ROLE_USER', parts: [{ text: 'Hi.' }], ...fields };
};
const sent = (fields: object = {}) => call('SendMessage', { message: message(fields) });
const runs = async (): Promise<number> => {
  const { body } = await peer.rpc(call('ListTasks', { pageSize: 100 }));
  return ((body.result as { tasks: unknown[] }).tasks ?? []).length;
};

describe('a request that is no JSON-RPC', () => {
  it.each([
    ['no JSON', '{"jsonrpc":', -32700],
    ['a duplicate key', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', -32700],
    ['a batch', '[]', -32600],
    ['a text', '"SendMessage"', -32600],
    ['no version', '{"method":"GetTask","id":1}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600],
    ['a very long id', `{"jsonrpc":"2.0","id":"${'x'.repeat(300)}","method":"GetTask"}`, -32600],
    ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
    ['a method of 0.3', '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', -32601],
  ])('%s', async (_, text, code) => {
    const { status, body } = await peer.rpc(null, { text });
    expect({ status, code: (body.error as { code: number }).code }).toEqual({ status: 200, code });
    expect(body.jsonrpc).toBe('2.0');
  });
});

it.each([
  ['no message', {}],
  ['no id', { message: { role: 'ROLE_USER', parts: [{ text: 'Hi.' }] } }],
  ['an agent that speaks', { message: message({ role: 'ROLE_AGENT' }) }],
  ['no parts', { message: message({ parts: [] }) }],
  ['too many parts', { message: message({ parts: Array.from({ length: 65 }, () => ({ text: 'x' })) }) }],
  ['no text', { message: message({ parts: [{ text: '' }] }) }],
  ['too much text', { message: message({ parts: [{ text: 'x'.repeat(131_073) }] }) }],
  ['a context that cannot be one', { message: message({ contextId: '../x' }) }],
  ['a negative history', { message: message(), configuration: { historyLength: -1 } }],
])('a message with %s is refused by name, and starts nothing', async (_, params) => {
  const before = await runs();
  const { body } = await peer.rpc(call('SendMessage', params));
  expect(body).toMatchObject({ id: 1, error: { code: -32602 } });
  expect(await runs()).toBe(before);
});

it('an error of the host has its code beside that of the protocol', async () => {
  const { body } = await peer.rpc(sent({ parts: [{ text: '' }] }));
  expect(body).toMatchObject({
    error: { data: [{ reason: 'INVALID_PARAMS', metadata: { code: 'validation_error' } }] },
  });
});

it('null is an absent field', async () => {
  const message = {
    ...{ messageId: 'null', contextId: null, taskId: null, metadata: null, role: 'ROLE_USER' },
    parts: [{ text: 'Hi.' }],
  };
  const push = { url: 'https://127.0.0.1/', id: null, token: null, authentication: null };
  const sent = async (configuration: object | null) =>
    (await peer.rpc({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } })).body;
  // Its address is refused, and no field that is null.
  const refused = await sent({ taskPushNotificationConfig: push });
  expect(refused).toMatchObject({ error: { message: expect.stringMatching(/^url: /) } });
  expect(await sent(null)).toHaveProperty('result.task');
  const nothing = { returnImmediately: null, historyLength: null, taskPushNotificationConfig: null };
  expect(await sent(nothing)).toHaveProperty('result.task');
});

it('files in a message are refused as a type that is not read', async () => {
  const { body } = await peer.rpc(sent({ parts: [{ url: 'http://169.254.169.254/', mediaType: 'image/png' }] }));
  expect(body).toMatchObject({ error: { code: -32005 } });
});

it('versions that are not served are named, and so is what to do', async () => {
  for (const version of ['', '0.3', '2.0', 'x'.repeat(50)]) {
    const { body } = await peer.rpc(sent(), { version });
    expect(body).toMatchObject({ error: { code: -32009, message: expect.stringContaining('A2A-Version') } });
  }
  for (const version of ['1.0', '1.0.3']) {
    expect((await peer.rpc(sent(), { version })).body).toMatchObject({ result: { task: {} } });
  }
});

it('tasks and contexts of another tenant look like none', async () => {
  const { body } = await peer.rpc(sent());
  const { id, contextId } = (body.result as { task: { id: string; contextId: string } }).task;
  const other = { key: keys.other };
  const unknown = await peer.rpc(call('GetTask', { id: 'run_00000000' }), other);
  for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
    expect((await peer.rpc(call(method, { id }), other)).body).toEqual(unknown.body);
  }
  expect((await peer.rpc(sent({ taskId: id }), other)).body).toMatchObject({ error: { code: -32001 } });
  expect((await peer.rpc(sent({ contextId }), other)).body).toMatchObject({ error: { code: -32602 } });
  const listed = await peer.rpc(call('ListTasks', { contextId }), other);
  expect(listed.body).toMatchObject({ error: { code: -32602 } });
  expect((await peer.rpc(call('ListTasks'), other)).body).toMatchObject({ result: { tasks: [] } });
});

it('the same message id of another principal is another message', async () => {
  const one = sent();
  const first = await peer.rpc(one);
  const second = await peer.rpc(one, { key: keys.bob });
  expect(taskId(second.body)).not.toBe(taskId(first.body));
});

it('each method asks for its scope', async () => {
  const { body } = await peer.rpc(sent());
  const id = taskId(body);
  const reader = { key: keys.reader };
  expect(await peer.rpc(sent(), reader)).toMatchObject({
    status: 403,
    body: { details: { scopeRequired: 'runs:create' } },
  });
  expect((await peer.rpc(call('CancelTask', { id }), reader)).status).toBe(403);
  expect((await peer.rpc(call('GetExtendedAgentCard'), reader)).status).toBe(403);
  expect((await peer.rpc(call('GetTask', { id }), reader)).status).toBe(200);
  expect((await peer.rpc(sent(), { key: 'nobody' })).status).toBe(401);
});

it('a message for a task that does not wait starts nothing and says why', async () => {
  const { runId } = await peer.host.engine.start({ tenant: 't', workflowId: 'gate', inputs: {}, options: {} });
  const elsewhere = await peer.rpc(sent({ taskId: runId, contextId: 'elsewhere' }));
  expect(elsewhere.body).toMatchObject({ error: { code: -32602 } });
  const named = await peer.rpc(sent({ taskId: runId, parts: [{ data: { inputId: 'nothing', value: 1 } }] }));
  expect(named.body).toMatchObject({ error: { code: -32602 } });
  expect((await peer.rpc(call('CancelTask', { id: runId }))).body).toMatchObject({ result: { id: runId } });
  expect((await peer.rpc(sent({ taskId: runId }))).body).toMatchObject({ error: { code: -32004 } });
});

it('an unknown agent has no card and takes no message', async () => {
  for (const agentId of ['host:nobody', 'no-agent-at-all', '%00', 'agent.json']) {
    const headers = { authorization: `Bearer ${keys.ann}` };
    const response = await fetch(`${peer.url}/v1/a2a/${agentId}/.well-known/agent-card.json`, { headers });
    expect(response.status).toBe(404);
    const { body } = await peer.rpc(sent(), { path: `/v1/a2a/${agentId}` });
    expect(body).toHaveProperty('error');
  }
});

it('the open card says nothing of other agents, and the card of an agent needs a key', async () => {
  const card = await (await fetch(`${peer.url}/.well-known/agent-card.json`)).json();
  expect(card).toMatchObject({
    supportedInterfaces: [{ url: `${peer.url}/v1/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    skills: [{ id: 'host:plain' }],
  });
  expect(await (await fetch(`${peer.url}/v1/a2a/agent.json`)).json()).toEqual(card);
  expect((await fetch(`${peer.url}/v1/a2a/host:desk/.well-known/agent-card.json`)).status).toBe(401);
});

it('a body over the limit is refused before it is read', async () => {
  const { status } = await peer.rpc(sent({ metadata: { x: 'x'.repeat(2_000_000) } }));
  expect(status).toBe(413);
});

const taskId = (body: { readonly [key: string]: unknown }): string => (body.result as { task: { id: string } }).task.id;
