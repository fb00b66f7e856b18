import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from './client.ts';
import * as surface from './index.ts';
import { collect, listen } from './scripted-host.kit.ts';

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
  expect(Object.keys(surface).sort()).toEqual([
    'CairnError',
    'HostError',
    'createClient',
    'isCairnError',
    'verifyCallback',
    'verifyWebhook',
  ]);
});

test('creates a run with its options and an idempotency key', async () => {
  const { client, seen } = await noting(201, '{"runId":"run_a","status":"running"}');
  const created = await client.runs.create(
    { workflowId: 'w', inputs: { a: 1 }, scopeId: 's' },
    { idempotencyKey: 'once', dedup: 'enforce' },
  );
  expect(created).toEqual({ runId: 'run_a', status: 'running' });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/v1/runs',
    body: '{"workflowId":"w","inputs":{"a":1},"scopeId":"s"}',
    headers: {
      authorization: 'Bearer secret-key',
      'content-type': 'application/json',
      'idempotency-key': 'once',
      'x-dedup': 'enforce',
    },
  });
});

test('asks each route by its method and path, with ids escaped', async () => {
  const { client, seen } = await noting(200, '{}');
  await client.discovery();
  await client.runs.get('run/1');
  await client.runs.list({ status: 'running', tag: 'a b', limit: 5, cursor: 'c' });
  await client.runs.list();
  await client.runs.cancel('run_a', 'late');
  await client.runs.cancel('run_a');
  await client.runs.bulkCancel(['run_a', 'run_b'], 'late');
  await client.runs.pause('run_a');
  await client.runs.pause('run_a', { drainPolicy: 'immediate', reason: 'look' });
  await client.runs.resume('run_a', 'go');
  await client.runs.answer('run_a', 'gate 1', null);
  await client.runs.debugBundle('run_a');
  await client.workflows.get('w');
  await client.workflows.get('w', { version: '1.0' });
  await client.workflows.list();
  await client.workflows.nodeTypes();
  await client.events.all('run_a');
  await client.events.poll('run_a');
  await client.events.poll('run_a', { after: 4, waitSeconds: 9 });
  await client.interrupts.ofRun('run_a');
  await client.interrupts.pending({ limit: 3, cursor: 'c' });
  await client.interrupts.token('run_a', 'gate 1', { intent: 'inspect' });
  await client.interrupts.get('a.b');
  await client.interrupts.resolve('a/b', 7);
  await client.webhooks.list();
  await client.webhooks.register({ url: 'https://receiver.example/', events: ['run.completed'] });
  await client.webhooks.delete('wh/1');
  await client.webhooks.callbackSecret();
  await client.agents.list();
  await client.agents.get('vendor.acme/desk');
  await client.tools.list();
  await client.tools.list({ source: 'mcp', view: 'compact' });
  await client.tools.get('openwop:fs.read');
  await client.calibration();
  await client.limits();
  await client.retention();
  await client.runs.delete('run/a');
  await client.runs.delete('run_a', { dryRun: true, force: true });
  await client.packs.install({ tarball: 'H4sI' });
  await client.packs.list();
  await client.packs.remove('vendor.acme.desk');
  await client.session.open();
  await client.session.close();
  await client.readTokens.create('run_a', { of: 'context' });
  await client.readTokens.revoke('run_a', 'a/b');
  expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
    'GET /.well-known/openwop',
    'GET /v1/runs/run%2F1',
    'GET /v1/runs?status=running&tag=a+b&limit=5&cursor=c',
    'GET /v1/runs',
    'POST /v1/runs/run_a/cancel {"reason":"late"}',
    'POST /v1/runs/run_a/cancel {}',
    'POST /v1/runs:bulk-cancel {"runIds":["run_a","run_b"],"reason":"late"}',
    'POST /v1/runs/run_a:pause {}',
    'POST /v1/runs/run_a:pause {"drainPolicy":"immediate","reason":"look"}',
    'POST /v1/runs/run_a:resume {"reason":"go"}',
    'POST /v1/runs/run_a/interrupts/gate%201 {"resumeValue":null}',
    'GET /v1/runs/run_a/debug-bundle',
    'GET /v1/workflows/w',
    'GET /v1/workflows/w?version=1.0',
    'GET /v1/workflows',
    'GET /v1/node-types',
    'GET /v1/runs/run_a/events',
    'GET /v1/runs/run_a/events/poll',
    'GET /v1/runs/run_a/events/poll?lastSequence=4&timeout=9',
    'GET /v1/runs/run_a/interrupts',
    'GET /v1/host/cairn/interrupts?limit=3&cursor=c',
    'POST /v1/host/cairn/runs/run_a/interrupts/gate%201/token {"intent":"inspect"}',
    'GET /v1/interrupts/a.b',
    'POST /v1/interrupts/a%2Fb {"resumeValue":7}',
    'GET /v1/webhooks',
    'POST /v1/webhooks {"url":"https://receiver.example/","events":["run.completed"]}',
    'DELETE /v1/webhooks/wh%2F1',
    'GET /v1/host/cairn/callback-secret',
    'GET /v1/agents',
    'GET /v1/agents/vendor.acme%2Fdesk',
    'GET /v1/tools',
    'GET /v1/tools?source=mcp&view=compact',
    'GET /v1/tools/openwop%3Afs.read',
    'GET /v1/host/cairn/calibration',
    'GET /v1/host/cairn/limits',
    'GET /v1/host/cairn/retention',
    'DELETE /v1/runs/run%2Fa',
    'DELETE /v1/runs/run_a?dryRun=true&force=true',
    'POST /v1/host/cairn/packs {"tarball":"H4sI"}',
    'GET /v1/host/cairn/packs',
    'DELETE /v1/host/cairn/packs/vendor.acme.desk',
    'POST /v1/host/cairn/session',
    'DELETE /v1/host/cairn/session',
    'POST /v1/runs/run_a/tokens {"of":"context"}',
    'DELETE /v1/runs/run_a/tokens/a%2Fb',
  ]);
});

test('gives every change a key of its own, and nothing else one', async () => {
  const { client, seen } = await noting(200, '{}');
  await client.runs.create({ workflowId: 'w' });
  await client.runs.cancel('run_a');
  await client.webhooks.delete('wh_a');
  await client.runs.get('run_a');
  await client.session.open();
  const keys = seen.map(({ headers }) => headers['idempotency-key']);
  expect(keys.slice(3)).toEqual([undefined, undefined]);
  expect(new Set(keys.slice(0, 3)).size).toBe(3);
  for (const key of keys.slice(0, 3)) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
