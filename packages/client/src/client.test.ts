import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from './client.ts';
import * as surface from './index.ts';
import { collect, listen } from './scripted-host.contract.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A client of a host that notes what it is asked and answers with one body. */
async function noting(status: number, body: string): Promise<{ client: Client; seen: Seen[] }> {
  const seen: Seen[] = [];
  const host = await listen(async (request, response) => {
    const chunks = await collect(request as AsyncIterable<Buffer>);
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body);
  });
  onTestFinished(() => host.close());
  return { client: createClient({ url: `${host.url}/`, key: 'secret-key' }), seen };
}

test('exports exactly its public names', () => {
  expect(Object.keys(surface)).toEqual(['createClient']);
});

test('creates a run with its options and an idempotency key', async () => {
  const { client, seen } = await noting(201, '{"runId":"run_a","status":"running"}');
  const created = await client.runs.create({ workflowId: 'w', inputs: { a: 1 } }, { idempotencyKey: 'once' });
  expect(created).toEqual({ runId: 'run_a', status: 'running' });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/v1/runs',
    body: '{"workflowId":"w","inputs":{"a":1}}',
    headers: { authorization: 'Bearer secret-key', 'content-type': 'application/json', 'idempotency-key': 'once' },
  });
});

test('asks each route by its method and path, with ids escaped', async () => {
  const { client, seen } = await noting(200, '{}');
  await client.runs.get('run/1');
  await client.runs.list({ status: 'running', tag: 'a b', limit: 5 });
  await client.runs.list();
  await client.runs.cancel('run_a', 'late');
  await client.runs.cancel('run_a');
  await client.runs.answer('run_a', 'gate 1', null);
  await client.workflows.get('w');
  expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    'GET /v1/runs/run%2F1 ',
    'GET /v1/runs?status=running&tag=a+b&limit=5 ',
    'GET /v1/runs ',
    'POST /v1/runs/run_a/cancel {"reason":"late"}',
    'POST /v1/runs/run_a/cancel {}',
    'POST /v1/runs/run_a/interrupts/gate%201 {"resumeValue":null}',
    'GET /v1/workflows/w ',
  ]);
});

test('throws the code, message and details that the host gave', async () => {
  const { client } = await noting(
    409,
    '{"error":"interrupt_already_resolved","message":"too late","details":{"by":"x"}}',
  );
  await expect(client.runs.answer('run_a', 'gate', true)).rejects.toMatchObject({
    name: 'TerminalError',
    code: 'interrupt_already_resolved',
    message: 'too late',
    details: { by: 'x', status: 409 },
  });
});

test('keeps a code it does not know in the details and goes by the status', async () => {
  const { client } = await noting(403, '{"error":"run_forbidden","message":"no"}');
  await expect(client.runs.get('run_a')).rejects.toMatchObject({
    code: 'forbidden',
    details: { error: 'run_forbidden' },
  });
});

test('tells a proxy in the way by its status and its words', async () => {
  const { client } = await noting(502, '<h1>Bad Gateway</h1>');
  await expect(client.runs.get('run_a')).rejects.toMatchObject({
    name: 'RetryableError',
    code: 'service_unavailable',
    message: 'GET /v1/runs/run_a answered 502 with "<h1>Bad Gateway</h1>".',
  });
});

test('says that the host was not reached, and that trying again may help', async () => {
  const host = await listen(() => undefined);
  await host.close();
  const client = createClient({ url: host.url, key: 'k' });
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ code: 'service_unavailable', retryable: true });
});

test('stops waiting for an answer when its signal is aborted', async () => {
  const asked = Promise.withResolvers<void>();
  const host = await listen(() => asked.resolve());
  onTestFinished(() => host.close());
  const stop = new AbortController();
  const answer = createClient({ url: host.url, key: 'k' }).runs.get('run_a', { signal: stop.signal });
  const outcome = expect(answer).rejects.toThrow('enough');
  await asked.promise;
  stop.abort(new Error('enough'));
  await outcome;
});
