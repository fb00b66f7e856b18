import { once } from 'node:events';
import { connect } from 'node:net';
import { RetryableError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { rawGet } from '../ask.kit.ts';
import { noop } from '../sample-workflows.kit.ts';
import { keys, served } from '../served.kit.ts';

test.each(['Basic abc', 'Bearer', 'Bearer ', 'bearer  two words', `Bearer\t${keys.alice}`])(
  'does not take the header %j for a key',
  async (authorization) => {
    const host = await served();
    const reply = await host.ask('GET', '/v1/runs', { key: null, headers: { authorization } });
    expect(reply.status).toBe(401);
  },
);

test('answers 404 for what it does not serve, 405 with Allow for the wrong method, 400 for paths without a version', async () => {
  const host = await served();
  for (const path of ['/v1/nothing', '/api/nothing'])
    expect(await host.ask('GET', path)).toMatchObject({ status: 404, body: { error: 'not_found' } });
  const wrong = await host.ask('PUT', '/v1/runs', { body: {} });
  expect(wrong).toMatchObject({ status: 405, body: { error: 'method_not_allowed' } });
  expect(wrong.headers.get('allow')).toBe('POST, GET, HEAD');
  expect((await host.ask('PUT', '/v1/runs/run_a:cancel')).headers.get('allow')).toContain('POST');
  expect((await host.ask('POST', '/.well-known/openwop')).status).toBe(405);
  for (const path of ['/', '/runs', '/v2/runs', '/v1']) {
    expect(await host.ask('GET', path)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  }
});

test('a verb that is not served is 404, whatever is served without it', async () => {
  const host = await served();
  for (const path of ['/v1/runs/run_a:copy', '/v1/runs/run_a:b:cancel', '/v1/runs:fork']) {
    for (const method of ['POST', 'PUT', 'GET'] as const) {
      const reply = await host.ask(method, path);
      expect([method, path, reply.status, reply.headers.get('allow')]).toEqual([method, path, 404, null]);
    }
  }
  // Ids of agents may hold a colon, and no verb is served there.
  const agent = await host.ask('PUT', '/v1/agents/host:a');
  expect([agent.status, agent.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test.each([
  ['malformed JSON', { raw: '{"workflowId":' }, 400, 'validation_error'],
  ['a repeated key', { raw: '{"workflowId":"a","workflowId":"b"}' }, 400, 'validation_error'],
  ['bytes that are not UTF-8', { raw: new Uint8Array([0x22, 0xff, 0x22]) }, 400, 'validation_error'],
  ['deep nesting', { raw: `{"inputs":${'['.repeat(101)}${']'.repeat(101)}}` }, 400, 'validation_error'],
  ['no body at all', {}, 400, 'validation_error'],
  ['an empty body', { raw: '' }, 400, 'validation_error'],
  ['an unknown field', { body: { workflowId: 'noop', colour: 'red' } }, 400, 'validation_error'],
  [
    'another media type',
    { raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
  ],
  ['a body that is too large', { raw: JSON.stringify({ workflowId: 'x'.repeat(70_000) }) }, 413, 'payload_too_large'],
])('refuses %s with the error envelope', async (_name, ask, status, error) => {
  const host = await served();
  const reply = await host.ask('POST', '/v1/runs', ask);
  expect([reply.status, reply.body.error]).toEqual([status, error]);
  expect(Object.keys(reply.body).filter((key) => !['error', 'message', 'details'].includes(key))).toEqual([]);
  if (status === 413) expect(reply.body.details).toMatchObject({ maxRequestBodyBytes: 65_536 });
});

test('hides what failed inside and reports it under the id that the answer names', async () => {
  const host = await served({
    engine: (engine) => ({
      ...engine,
      register: engine.register.bind(engine),
      start: engine.start.bind(engine),
      snapshotAt: () => Promise.reject(new Error('secret detail')),
    }),
  });
  await host.engine.register('t', noop);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'noop', inputs: {}, options: {} });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const reply = await host.ask('GET', `/v1/runs/${runId}`, { headers });
  expect(reply).toMatchObject({ status: 500, body: { error: 'internal_error' } });
  expect(reply.text).not.toContain('secret detail');
  const { correlationId } = reply.body.details as { correlationId: string };
  expect(correlationId).toBe(traceId);
  expect(host.reports.at(-1)).toMatchObject({
    level: 'error',
    event: 'request.failed',
    message: 'secret detail',
    facts: { correlationId },
  });
});

test('answers 503 with Retry-After when the store cannot be written, without telling where it lies', async () => {
  const host = await served({
    engine: (engine) => ({
      ...engine,
      start: () => Promise.reject(new RetryableError('store_full', { message: 'No space left in /secret/path.' })),
    }),
  });
  const reply = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
  expect(reply).toMatchObject({
    status: 503,
    body: {
      error: 'service_unavailable',
      details: { reason: 'store_full', hint: expect.stringContaining('disk of the host is full') },
    },
  });
  expect(reply.headers.get('retry-after')).toBe('1');
  expect(reply.text).not.toContain('/secret/path');
});

test('serves loopback names and its public name only, so that no web page can reach it through its own', async () => {
  const host = await served({ publicUrl: 'https://cairn.example.org' });
  const statusFor = async (name: string) => (await rawGet(host.port, '/.well-known/openwop', { host: name })).status;
  for (const name of [
    'localhost',
    `127.0.0.1:${host.port}`,
    '[::1]:80',
    'cairn.example.org',
    'CAIRN.example.org:443',
  ]) {
    expect([name, await statusFor(name)]).toEqual([name, 200]);
  }
  for (const name of [
    'evil.example.com',
    '127.0.0.1.evil.example.com',
    'localhost.evil.com',
    'cairn.example.org.evil.com',
  ]) {
    expect([name, await statusFor(name)]).toEqual([name, 403]);
  }
});

test('answers what is not HTTP, and a path that cannot be decoded, with the envelope', async () => {
  const host = await served();
  const socket = connect(host.port, '127.0.0.1');
  socket.end('NOT HTTP AT ALL\r\n\r\n');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 400 .*\r\n/);
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: 'validation_error' });
  const bad = await rawGet(host.port, '/v1/runs/%ff', { host: 'localhost', authorization: `Bearer ${keys.alice}` });
  expect([bad.status, JSON.parse(bad.text).error]).toEqual([400, 'validation_error']);
});
