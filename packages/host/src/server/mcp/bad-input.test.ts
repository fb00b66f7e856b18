import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, McpHost } from './client.kit.ts';
import { MODERN } from './versions.ts';

const host = new McpHost();
beforeAll(() => host.start());
afterAll(() => host.close());

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const call = (name: string, more: JsonObject = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {}, ...more },
});

const envelope = (version: string) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
});

/** A request of the revision without a handshake. */
function modern(body: { method: string; params?: JsonObject }, headers: Record<string, string> = {}, key = keys.ann) {
  const { name } = body.params ?? {};
  const named: Record<string, string> = typeof name === 'string' ? { 'mcp-name': name } : {};
  const params = { ...body.params, _meta: envelope(MODERN) };
  const standard = { 'mcp-protocol-version': MODERN, 'mcp-method': body.method, ...named };
  return host.rpc({ jsonrpc: '2.0', id: 1, ...body, params }, { key, headers: { ...standard, ...headers } });
}

const codeOf = ({ body }: { readonly body: JsonObject }) => (body.error as JsonObject | undefined)?.code;

test('answers what is no message with the error of the protocol', async () => {
  const none = await host.rpc(null, { text: '{"jsonrpc"' });
  expect([none.status, codeOf(none)]).toEqual([200, -32700]);
  for (const body of [[ping], [], {}, { jsonrpc: '1.0', id: 1, method: 'ping' }, { ...ping, id: 'x'.repeat(257) }, 7]) {
    const { status, body: told } = await host.rpc(body);
    expect([status, codeOf({ body: told })], JSON.stringify(body).slice(0, 60)).toEqual([200, -32600]);
  }
  expect(codeOf(await host.rpc({ ...ping, method: 'constructor' }))).toBe(-32601);
  const unknown = await modern({ method: 'ping' });
  expect([unknown.status, codeOf(unknown)]).toEqual([404, -32601]);
});

test('takes notifications and stray responses, and answers them with nothing', async () => {
  for (const body of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: { odd: true } } },
    { jsonrpc: '2.0', id: 'nobody-asked', result: { action: 'accept' } },
    { jsonrpc: '2.0', id: 'nobody-asked', error: { code: 1, message: 'no' } },
  ]) {
    expect((await host.rpc(body)).status).toBe(202);
  }
});

test('refuses revisions that it does not speak, and headers that do not agree with the body', async () => {
  const old = await host.rpc(ping, { headers: { 'mcp-protocol-version': '2024-11-05' } });
  expect([old.status, codeOf(old)]).toEqual([400, -32022]);
  expect(old.body).toMatchObject({
    error: { data: { requested: '2024-11-05', supported: expect.arrayContaining([MODERN]) } },
  });
  const later = { ...call('greet'), params: { name: 'greet', _meta: envelope('2099-01-01') } };
  const headers = { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/call', 'mcp-name': 'greet' };
  expect(codeOf(await host.rpc(later, { headers }))).toBe(-32022);
  // What does not agree is told first.
  expect(codeOf(await host.rpc(later, { headers: { ...headers, 'mcp-method': 'tools/list' } }))).toBe(-32020);
  const { method, params } = call('greet');
  for (const wrong of [{ 'mcp-name': 'gate' }, { 'mcp-method': 'ping' }, { 'mcp-protocol-version': '2025-11-25' }]) {
    const told = await modern({ method, params }, wrong as Record<string, string>);
    expect([told.status, codeOf(told)], JSON.stringify(wrong)).toEqual([400, -32020]);
  }
  const bare = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope(MODERN) } };
  expect(codeOf(await host.rpc(bare))).toBe(-32020);
});

test('answers an unknown revision in a handshake with one that it speaks', async () => {
  const params = { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { body } = await host.rpc({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  expect(body).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
});

test('knows a session of its own principal only', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { headers } = await host.rpc({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  expect((await host.rpc(ping, { headers: session })).status).toBe(200);
  for (const key of [keys.bob, keys.other]) {
    expect((await host.rpc(ping, { key, headers: session })).status).toBe(404);
  }
  for (const id of ['x', 'e30.e30', `${session['mcp-session-id']}x`, 'y'.repeat(5_000)]) {
    expect((await host.rpc(ping, { headers: { 'mcp-session-id': id } })).status).toBe(404);
  }
});

test('refuses unknown tools, those of other tenants, bad arguments and large bodies', async () => {
  const greet = { arguments: { who: 'x' } };
  for (const [body, key] of [
    [call('nothing'), keys.ann],
    [call('agent.nobody'), keys.ann],
    [call('greet', greet), keys.other],
    [call('greet', { arguments: [] }), keys.ann],
    [{ ...call('greet'), params: { name: { odd: 1 } } }, keys.ann],
  ] as const) {
    expect(codeOf(await host.rpc(body, { key }))).toBe(-32602);
  }
  const { body } = await host.rpc({ ...ping, method: 'tools/list' }, { key: keys.other });
  expect(JSON.stringify(body)).not.toContain('greet');
  const large = call('greet', { arguments: { who: 'x'.repeat(3_000_000) } });
  expect((await host.rpc(large)).status).toBe(413);
  const long = await host.rpc(call('agent.host.plain', { arguments: { message: 'x'.repeat(900_000) } }));
  expect(long.status).toBeLessThan(500);
});

test("another tenant's conversation looks like none, and stays as it is", async () => {
  const said = (contextId: string, key: string) =>
    host.rpc(call('agent.host.plain', { arguments: { message: 'Hi.', contextId } }), { key });
  const { body } = await host.rpc(call('agent.host.plain', { arguments: { message: 'Hi.' } }));
  const { _meta } = body.result as { _meta: JsonObject };
  const { contextId } = await host.rest('GET', `/v1/runs/${_meta.runId}`);
  const [foreign, unknown] = [await said(String(contextId), keys.other), await said('ctx_nothing', keys.other)];
  const plain = (told: JsonObject) => JSON.stringify(told).replaceAll(/ctx_[\w-]+/g, 'it');
  expect(foreign.body.error).toBeDefined();
  expect(plain(foreign.body)).toBe(plain(unknown.body));
  const { runs } = await host.rest('GET', '/v1/runs', undefined, keys.other);
  expect(runs).toEqual([]);
});

test('asks for the scopes of other routes', async () => {
  const listed = await host.rpc({ ...ping, method: 'tools/list' }, { key: keys.reader });
  const called = await host.rpc(call('greet', { arguments: { who: 'x' } }), { key: keys.reader });
  expect([listed.status, called.status]).toEqual([403, 403]);
  expect((await host.rpc(ping, { key: 'no-key-of-this-host-0123456789abcdef' })).status).toBe(401);
});

test('continues the stream of a call for its own tenant only', async () => {
  const read = async (headers: Record<string, string>, key = keys.ann) => {
    const response = await fetch(`${host.url}/v1/mcp`, { headers: { authorization: `Bearer ${key}`, ...headers } });
    return { status: response.status, text: await response.text() };
  };
  expect((await read({})).status).toBe(405);
  expect((await read({ 'last-event-id': 'e30.e30' })).status).toBe(404);
  const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const response = await fetch(`${host.url}/v1/mcp`, {
    method: 'POST',
    headers: { ...accept, authorization: `Bearer ${keys.ann}`, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify(call('greet', { arguments: { who: 'x' } })),
  });
  const [, id = ''] = /^id: (.*)$/m.exec(await response.text()) ?? [];
  const again = await read({ 'last-event-id': id });
  expect([again.status, again.text]).toEqual([200, expect.stringContaining('"structuredContent":{"who":"x"}')]);
  expect((await read({ 'last-event-id': id }, keys.other)).status).toBe(404);
});

test('takes a cause only in its form', async () => {
  const { body } = await host.rpc(
    call('greet', { arguments: { who: 'x' }, _meta: { 'cairn.causation': { runId: 7 } } }),
  );
  expect(body).toMatchObject({ result: { isError: true } });
});

test('takes a requestState once, of its own principal, tool and question', async () => {
  const gate = { method: 'tools/call', params: { name: 'gate', arguments: {} } };
  const asked = await modern(gate);
  expect(asked.body).toMatchObject({
    result: { resultType: 'input_required', inputRequests: { answer: { method: 'elicitation/create' } } },
  });
  const { requestState = '' } = asked.body.result as JsonObject;
  const inputResponses = { answer: { action: 'accept', content: { approve: true } } };
  const again = (name: string, given: JsonObject, key = keys.ann) =>
    modern({ method: 'tools/call', params: { name, arguments: {}, inputResponses, requestState, ...given } }, {}, key);
  expect(codeOf(await again('gate', {}, keys.bob))).toBe(-32602);
  expect(codeOf(await again('gate', {}, keys.other))).toBe(-32602);
  expect(codeOf(await again('ask', {}))).toBe(-32602);
  for (const forged of ['x', `${String(requestState)}x`, 7, {}, null]) {
    expect(codeOf(await again('gate', { requestState: forged }))).toBe(-32602);
  }
  expect(codeOf(await again('gate', { inputResponses: { answer: 'yes' } }))).toBe(-32602);
  const done = await again('gate', {});
  expect(done.body).toMatchObject({ result: { resultType: 'complete', structuredContent: { action: 'accept' } } });
  const replayed = await again('gate', {});
  expect(replayed.body).toMatchObject({ error: { code: -32602, message: expect.stringContaining('was used before') } });
});

test('names a form after its question, and hears an answer under no other name', async () => {
  const ask = { name: 'ask', arguments: {} };
  const asked = await modern({ method: 'tools/call', params: ask });
  const { inputRequests, requestState = '' } = asked.body.result as JsonObject;
  expect(inputRequests).toMatchObject({
    city: { params: { message: 'Which city?', _meta: { 'cairn.question': { inputId: expect.any(String) } } } },
  });
  const again = (name: string) => {
    const inputResponses = { [name]: { action: 'accept', content: { answer: 'Oslo' } } };
    return modern({ method: 'tools/call', params: { ...ask, inputResponses, requestState } });
  };
  expect((await again('answer')).body).toMatchObject({ error: { message: expect.stringContaining('city') } });
  expect((await again('city')).body).toMatchObject({ result: { resultType: 'complete' } });
});

test('asks for the arguments of a prompt that are missing, once', async () => {
  const got = (more: JsonObject = {}) => modern({ method: 'prompts/get', params: { name: 'acme.write', ...more } });
  expect((await got()).body).toMatchObject({
    result: {
      resultType: 'input_required',
      inputRequests: { arguments: { params: { requestedSchema: { required: ['topic'] } } } },
    },
  });
  const reply = (content: JsonObject) => ({ inputResponses: { arguments: { action: 'accept', content } } });
  expect((await got(reply({ topic: 'maps' }))).body).toMatchObject({
    result: { messages: [{ content: { text: 'Write about maps for everybody, in maps words.' } }] },
  });
  for (const wrong of [reply({}), reply({ topic: 7 }), { inputResponses: { arguments: { action: 'decline' } } }]) {
    expect(codeOf(await got(wrong))).toBe(-32602);
  }
});

test('cancels the run of a client of 2026-07-28 that leaves, also one that takes no stream', async () => {
  const params = { name: 'slow', arguments: {}, _meta: envelope(MODERN) };
  for (const accept of ['application/json', 'application/json, text/event-stream']) {
    const leaves = new AbortController();
    const left = fetch(`${host.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${keys.ann}`, 'content-type': 'application/json', accept },
        ...{ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'slow' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: leaves.signal,
    }).then((response) => response.text());
    const runId = await host.newestRun('slow', 'running');
    leaves.abort();
    await expect(left).rejects.toThrow();
    expect((await host.ended(runId)).at(-1)).toMatchObject({
      type: 'run.cancelled',
      payload: { reason: 'cross_protocol_cancel' },
    });
  }
});

test('hears no answer of another principal, and ends with a run that was cancelled while it asks', async () => {
  const client = await host.client('2025-11-25', { onForm: () => new Promise(() => {}) });
  const open = client.callTool({ name: 'gate', arguments: {} });
  const runId = await host.newestRun('gate', 'waiting-approval');
  // The ids of questions are random; even the right one would be dropped.
  await host.rpc(
    { jsonrpc: '2.0', id: 0, result: { action: 'accept', content: { approve: true } } },
    { key: keys.bob },
  );
  expect(await host.rest('GET', `/v1/runs/${runId}`)).toMatchObject({ status: 'waiting-approval' });
  await host.rest('POST', `/v1/runs/${runId}/cancel`, {});
  expect(await open).toMatchObject({ isError: true });
});
