import { TerminalError } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { createRedactor } from '../../redaction/redactor.ts';
import { RawConnection } from '../http/raw-http.kit.ts';
import { approval, noop } from '../sample-workflows.kit.ts';
import { keys, keyWith, type Served, served } from '../served.kit.ts';

/** Asks as often as told; gives the statuses. */
async function statuses(host: Served, times: number, key: string, path = '/v1/runs'): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let i = 0; i < times; i += 1) seen.push((await host.ask('GET', path, { key })).status);
  return seen;
}

test('a key that asks too often is told when to come back, and others are not held up', async () => {
  const clock = { at: 0 };
  const host = await served({ limits: { maxRequestsPerSecondPerKey: 2 }, now: () => clock.at });
  expect(await statuses(host, 2, keys.alice)).toEqual([200, 200]);
  const refused = await host.ask('GET', '/v1/runs', { key: keys.alice });
  expect(refused).toMatchObject({
    status: 429,
    body: { error: 'rate_limited', details: { scope: 'key', retryAfterMs: 500 } },
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await statuses(host, 2, keys.auditor)).toEqual([200, 200]);
  clock.at += 500;
  expect(await statuses(host, 2, keys.alice)).toEqual([200, 429]);
});

test('all keys of a tenant share its rate; a request refused for its key does not use it up', async () => {
  const host = await served({
    limits: { maxRequestsPerSecondPerKey: 1, maxRequestsPerSecondPerTenant: 2 },
    now: () => 0,
  });
  expect(await statuses(host, 3, keys.alice)).toEqual([200, 429, 429]);
  expect(await statuses(host, 1, keys.auditor)).toEqual([200]);
  const third = await host.ask('GET', '/v1/runs', { key: keyWith('runs:read') });
  expect(third).toMatchObject({ status: 429, body: { details: { scope: 'tenant' } } });
  expect(await statuses(host, 1, keys.stranger)).toEqual([200]);
});

test('the rate comes before the scope', async () => {
  const host = await served({ limits: { maxRequestsPerSecondPerKey: 1 }, now: () => 0 });
  expect(await statuses(host, 2, keyWith('runs:create'))).toEqual([403, 429]);
});

test('without a configured rate nobody is counted', async () => {
  const host = await served({ now: () => 0 });
  expect(new Set(await statuses(host, 50, keys.alice))).toEqual(new Set([200]));
});

test('an address with too many wrong keys gets 429 whatever key it sends, until the time is over', async () => {
  const clock = { at: 0 };
  const host = await served({ limits: { maxFailedAuthPerMinute: 3 }, now: () => clock.at });
  expect(await statuses(host, 5, 'some-other-key-here')).toEqual([401, 401, 401, 429, 429]);
  const wrong = await host.ask('GET', '/v1/runs', { key: 'some-other-key-here' });
  expect(wrong.body).toMatchObject({ error: 'rate_limited', details: { scope: 'global', retryAfterMs: 20_000 } });
  expect(wrong.headers.get('retry-after')).toBe('20');
  const right = await host.ask('GET', '/v1/runs', { key: keys.alice });
  expect([right.status, right.body]).toEqual([wrong.status, wrong.body]);
  expect((await host.ask('GET', '/v1/nothing-here', { key: keys.alice })).status).toBe(429);
  expect((await host.ask('GET', '/v1/interrupts/a.b', { key: null })).status).toBe(429);
  expect((await host.ask('GET', '/.well-known/openwop', { key: null })).status).toBe(200);
  clock.at += 20_000;
  expect(await statuses(host, 2, keys.alice)).toEqual([200, 200]);
  expect(await statuses(host, 2, 'some-other-key-here')).toEqual([401, 429]);
});

test('requests without a credential are no failed attempts', async () => {
  const host = await served({ limits: { maxFailedAuthPerMinute: 1 }, now: () => 0 });
  for (let i = 0; i < 5; i += 1) expect((await host.ask('GET', '/v1/runs', { key: null })).status).toBe(401);
  expect(await statuses(host, 1, keys.alice)).toEqual([200]);
});

test('behind a trusted proxy each client has failed attempts of its own, and nobody else can name a client', async () => {
  const from = (client: string, key: string) => ({ key, headers: { 'x-forwarded-for': client } });
  const limits = { maxFailedAuthPerMinute: 1 };
  const host = await served({ limits, now: () => 0, trustedProxies: ['127.0.0.1'] });
  const ask = async (client: string, key: string) => (await host.ask('GET', '/v1/runs', from(client, key))).status;
  expect(await ask('203.0.113.1', 'a-wrong-key-here')).toBe(401);
  expect([await ask('203.0.113.1', keys.alice), await ask('203.0.113.2', keys.alice)]).toEqual([429, 200]);
  // A client can only add to the header; the proxy appends the address that it sees.
  expect(await ask('203.0.113.9, 203.0.113.1', keys.alice)).toBe(429);
  const direct = await served({ limits, now: () => 0 });
  const spoofed = async (client: string) => (await direct.ask('GET', '/v1/runs', from(client, 'a-wrong-key'))).status;
  expect([await spoofed('203.0.113.1'), await spoofed('203.0.113.2')]).toEqual([401, 429]);
});

test('requests with a secret of the host count as failed attempts of their key, and of no other', async () => {
  const clock = { at: 0 };
  const redactor = createRedactor([{ name: 'crm', value: 'tiger-5521-lion' }]);
  const host = await served({ limits: { maxFailedAuthPerMinute: 2 }, now: () => clock.at, redactor });
  await host.engine.register('t', noop);
  const start = async (text: string, headers = {}) =>
    (await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop', inputs: { text } }, headers })).status;
  expect([await start('no secret'), await start('tiger-5521-lio'), await start('tiger-5521-lion')]).toEqual([
    201, 201, 201,
  ]);
  expect(await start('none here', { tracestate: 'v=tiger-5521-lion' })).toBe(201);
  const refused = await host.ask('GET', '/v1/runs', { key: keys.alice });
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited', details: { scope: 'key' } } });
  expect(await statuses(host, 1, keys.auditor)).toEqual([200]);
  clock.at += 30_000;
  expect(await statuses(host, 1, keys.alice)).toEqual([200]);
});

/** A host whose snapshots are given only once the test says so. Each request names a run of its own: one run is loaded once. */
async function stalled(maxRequestsInFlightPerKey: number) {
  const gates: (() => void)[] = [];
  const host = await served({
    limits: { maxRequestsInFlightPerKey },
    engine: (engine) => ({
      ...engine,
      register: engine.register.bind(engine),
      start: engine.start.bind(engine),
      snapshotAt: async () => {
        await new Promise<void>((resolve) => gates.push(resolve));
        throw new TerminalError('not_found', { message: 'Gone.' });
      },
    }),
  });
  await host.engine.register('t', approval);
  const run = async () => {
    const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
    return `/v1/runs/${runId}`;
  };
  const waits = (count: number) => expect.poll(() => gates.length).toBe(count);
  const release = () => {
    for (const open of gates.splice(0)) open();
  };
  onTestFinished(release);
  return { host, run, waits, release };
}

test('requests under way of one key are bounded; others, and later ones, are served', async () => {
  const { host, run, waits, release } = await stalled(2);
  const waiting = [host.ask('GET', await run()), host.ask('GET', await run())];
  await waits(2);
  const third = await host.ask('GET', '/v1/runs');
  expect(third).toMatchObject({
    status: 429,
    body: { error: 'rate_limited', details: { scope: 'key', limit: '2 requests at a time', retryAfterMs: 1000 } },
  });
  expect(third.headers.get('retry-after')).toBe('1');
  expect(await statuses(host, 3, keys.auditor)).toEqual([200, 200, 200]);
  release();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([404, 404]);
  await expect.poll(() => statuses(host, 1, keys.alice)).toEqual([200]);
});

test('a request that is refused, or whose client left, takes no place', async () => {
  const { host, run, waits, release } = await stalled(2);
  for (let i = 0; i < 5; i += 1) {
    expect((await host.ask('POST', '/v1/runs', { raw: '{' })).status).toBe(400);
    expect((await host.ask('GET', '/v1/runs/run_a/debug-bundle')).status).toBe(404);
  }
  const connection = await RawConnection.open(host.port);
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${keys.alice}\r\n\r\n`;
  connection.send(get(await run()) + get(await run()));
  await waits(2);
  expect(await statuses(host, 1, keys.alice)).toEqual([429]);
  connection.close();
  await expect.poll(() => statuses(host, 1, keys.alice)).toEqual([200]);
  const all = [host.ask('GET', await run()), host.ask('GET', await run())];
  await waits(4);
  expect(await statuses(host, 1, keys.alice)).toEqual([429]);
  release();
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual([404, 404]);
});

test('polls of a client that left take no place, also those that wait behind others on its connection', async () => {
  const host = await served({ limits: { maxOpenStreamsPerKey: 3 } });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const poll = `GET /v1/runs/${runId}/events/poll?lastSequence=999&timeout=9 HTTP/1.1\r\n`;
  const connection = await RawConnection.open(host.port);
  connection.send(`${poll}Host: 127.0.0.1\r\nAuthorization: Bearer ${keys.alice}\r\n\r\n`.repeat(3));
  await expect.poll(() => host.server.open.polls).toBe(3);
  connection.close();
  await expect.poll(() => host.server.open.polls).toBe(0);
  const streams = [];
  for (let i = 0; i < 3; i += 1) streams.push(await openStream(host, runId, keys.alice));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const { leave } of streams) leave();
});

/** Opens a stream of the run and waits for its head. */
async function openStream(host: Served, runId: string, key: string) {
  const leave = new AbortController();
  const response = await fetch(`${host.url}/v1/runs/${runId}/events?streamMode=debug`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  return { status: response.status, leave: () => leave.abort(), response };
}

test('open streams and waiting polls of a key are counted together, and a place is free once its client left', async () => {
  const host = await served({ limits: { maxOpenStreamsPerKey: 2 } });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const stream = await openStream(host, runId, keys.alice);
  expect(stream.status).toBe(200);
  const poll = host.ask('GET', `/v1/runs/${runId}/events/poll?lastSequence=999&timeout=9`);
  await expect.poll(() => host.server.open.polls).toBe(1);
  const third = await host.ask('GET', `/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } });
  expect(third).toMatchObject({
    status: 429,
    body: { error: 'rate_limited', details: { scope: 'key', limit: '2 open streams', retryAfterMs: 5000 } },
  });
  expect(third.headers.get('retry-after')).toBe('5');
  expect((await host.ask('GET', `/v1/runs/${runId}`)).status).toBe(200);
  const other = await openStream(host, runId, keys.auditor);
  expect(other.status).toBe(200);
  stream.leave();
  host.timers.pass(9_000);
  await poll;
  await expect.poll(() => host.server.open.streams).toBe(1);
  await expect
    .poll(async () => {
      const again = await openStream(host, runId, keys.alice);
      again.leave();
      return again.status;
    })
    .toBe(200);
  other.leave();
});

test('all keys of a tenant share its open streams', async () => {
  const host = await served({ limits: { maxOpenStreamsPerTenant: 1 } });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const first = await openStream(host, runId, keys.alice);
  const second = await openStream(host, runId, keys.auditor);
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(await second.response.json()).toMatchObject({ error: 'rate_limited', details: { scope: 'tenant' } });
  first.leave();
});

test('many streams that end by themselves leave no place taken', async () => {
  const host = await served({ limits: { maxOpenStreamsPerKey: 1 } });
  await host.engine.register('t', noop);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'noop', inputs: {}, options: {} });
  await expect.poll(async () => (await host.engine.snapshot('t', runId)).status).toBe('completed');
  for (let i = 0; i < 20; i += 1) {
    const reply = await host.ask('GET', `/v1/runs/${runId}/events`, {
      headers: { accept: 'text/event-stream', connection: 'close' },
    });
    expect(reply.status).toBe(200);
  }
});

test('polls that wait behind each other on one connection are counted like those on many', async () => {
  const host = await served({ limits: { maxOpenStreamsPerKey: 2 } });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const poll = `GET /v1/runs/${runId}/events/poll?lastSequence=999&timeout=9 HTTP/1.1\r\n`;
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  connection.send(`${poll}Host: 127.0.0.1\r\nAuthorization: Bearer ${keys.alice}\r\n\r\n`.repeat(3));
  await expect.poll(() => host.server.open.polls).toBe(2);
  host.timers.pass(9_000);
  const statuses = [await connection.response(), await connection.response(), await connection.response()];
  expect(statuses.map((response) => response?.status)).toEqual([200, 200, 429]);
  const free = await openStream(host, runId, keys.alice);
  expect(free.status).toBe(200);
  free.leave();
});
