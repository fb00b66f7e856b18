import { expect, test } from 'vitest';
import { rawGet } from '../ask.kit.ts';
import { asked, everyRoute, routeCases, waitingRun } from '../http/route-cases.kit.ts';
import { approval } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const APP = 'https://app.example.org';

const preflight = (host: Served, path: string, headers: Record<string, string>) =>
  fetch(`${host.url}${path}`, { method: 'OPTIONS', headers });

test('without a list, pages of other origins are refused, on open routes and unknown paths too', async () => {
  const host = await served();
  for (const path of ['/v1/runs', '/.well-known/openwop', '/v1/nothing']) {
    const reply = await host.ask('GET', path, { headers: { origin: APP } });
    expect([path, reply.status, reply.body.error]).toEqual([path, 403, 'forbidden']);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  }
  const asked = await preflight(host, '/v1/runs', { origin: APP, 'access-control-request-method': 'POST' });
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test.each(['null', 'https://app.example.org.evil.com', 'http://app.example.org', 'https://app.example.org:8443', '*'])(
  'an origin that is not exactly a listed one is refused: %s',
  async (origin) => {
    const host = await served({ corsOrigins: [APP] });
    expect((await host.ask('GET', '/v1/runs', { headers: { origin } })).status).toBe(403);
  },
);

test('a page of a listed origin reads answers and refusals, and the headers it needs', async () => {
  const host = await served({ corsOrigins: [APP] });
  for (const [key, status] of [
    [keys.alice, 200],
    [null, 401],
  ] as const) {
    const reply = await host.ask('GET', '/v1/runs', { key, headers: { origin: APP } });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('access-control-allow-origin')).toBe(APP);
    expect(reply.headers.get('access-control-allow-credentials')).toBe('true');
    expect(reply.headers.get('vary')).toBe('Origin');
    const exposed = reply.headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['openwop-Idempotent-Replay', 'ETag', 'Retry-After']));
    expect(exposed).toEqual(expect.arrayContaining(['cairn-context-id', 'cairn-task-id', 'Content-Range']));
  }
});

test('a stream carries the same headers', async () => {
  const host = await served({ corsOrigins: [APP] });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const leave = new AbortController();
  const { headers } = await fetch(`${host.url}/v1/runs/${runId}/events`, {
    headers: { origin: APP, authorization: `Bearer ${keys.alice}`, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  expect(headers.get('content-type')).toBe('text/event-stream');
  expect(headers.get('access-control-allow-origin')).toBe(APP);
  leave.abort();
});

test('a preflight of a listed origin is told the methods of the path and the headers of the protocol', async () => {
  const host = await served({ corsOrigins: [APP] });
  const reply = await preflight(host, '/v1/runs', { origin: APP, 'access-control-request-method': 'POST' });
  expect(reply.status).toBe(204);
  expect(reply.headers.get('access-control-allow-origin')).toBe(APP);
  expect(reply.headers.get('access-control-allow-methods')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'POST']);
  const allowed = reply.headers.get('access-control-allow-headers')?.split(', ');
  expect(allowed).toEqual(
    expect.arrayContaining(['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'If-None-Match']),
  );
  // Conversations: an edit of an artifact, a message without its stream, a part of a file, a call of A2A.
  expect(allowed).toEqual(expect.arrayContaining(['If-Match', 'Prefer', 'Range', 'A2A-Version']));
  const unknown = await preflight(host, '/v1/nothing', { origin: APP, 'access-control-request-method': 'GET' });
  expect(unknown.status).toBe(404);
});

test('a page of a listed origin may send every header that a route documents', async () => {
  const host = await served({ ...everyRoute, corsOrigins: [APP] });
  const reply = await preflight(host, '/v1/runs', { origin: APP, 'access-control-request-method': 'POST' });
  const allowed = new Set(reply.headers.get('access-control-allow-headers')?.toLowerCase().split(', '));
  for (const { doc } of host.server.routes) {
    const missing = Object.keys(doc.headers?.shape ?? {}).filter((name) => !allowed.has(name.toLowerCase()));
    expect([doc.id, missing]).toEqual([doc.id, []]);
  }
});

test('a cache is told that every answer depends on the origin, whatever else it depends on', async () => {
  const host = await served({ ...everyRoute, corsOrigins: [APP] });
  for (const { method, path, scope, doc } of host.server.routes) {
    if (method !== 'GET') continue;
    const found = routeCases[doc.id];
    const request = asked(path, found?.request(await (found.given ?? waitingRun)(host)) ?? {});
    const headers = { ...request.with.headers, origin: APP };
    const reply = await host.ask('GET', request.path, { ...request.with, headers, key: scope && keys.auditor });
    expect([doc.id, reply.headers.get('access-control-allow-origin')]).toEqual([doc.id, APP]);
    expect([doc.id, reply.headers.get('vary')?.split(', ')]).toEqual([doc.id, expect.arrayContaining(['Origin'])]);
  }
});

test('OPTIONS without a preflight is a method like any other that is not served', async () => {
  const host = await served({ corsOrigins: [APP] });
  const reply = await preflight(host, '/v1/runs', {});
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD']);
});

test('pages of the host itself may call it, under each of its names', async () => {
  const host = await served({ publicUrl: 'https://cairn.example.org' });
  const status = async (origin: string, name: string) =>
    (await rawGet(host.port, '/.well-known/openwop', { host: name, origin })).status;
  const here = `localhost:${host.port}`;
  expect(await status(`http://${here}`, here)).toBe(200);
  expect(await status('https://cairn.example.org', 'cairn.example.org')).toBe(200);
  expect(await status('https://cairn.example.org', here)).toBe(200);
  // Another program on this machine has another port, and is another origin.
  expect(await status('http://localhost:3000', here)).toBe(403);
  expect(await status(`http://127.0.0.1:${host.port}`, here)).toBe(403);
});
