import { expect, onTestFinished, test } from 'vitest';
import { approval } from '../sample-workflows.kit.ts';
import { keys, type Served, type ServedOptions, served } from '../served.kit.ts';
import { RawConnection } from './raw-http.kit.ts';

const HSTS = 'max-age=31536000';

async function connection(host: Served): Promise<RawConnection> {
  const opened = await RawConnection.open(host.port);
  onTestFinished(() => opened.close());
  return opened;
}

/** Every kind of response: success, page, error, unknown path, stream, preflight, and bytes that are no request. */
async function everyKind(options: ServedOptions) {
  const host = await served(options);
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const key = `Host: 127.0.0.1\r\nAuthorization: Bearer ${keys.alice}\r\n`;
  const stream = `GET /v1/runs/${runId}/events HTTP/1.1\r\n${key}Accept: text/event-stream\r\n\r\n`;
  const requests = [
    `GET /v1/runs HTTP/1.1\r\n${key}\r\n`,
    `GET /v1/docs HTTP/1.1\r\n${key}\r\n`,
    'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    `GET /v1/nothing HTTP/1.1\r\n${key}\r\n`,
    'GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET /%zz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    stream,
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: more\r\n\r\n',
    'no request\r\n\r\n',
  ];
  const responses = [];
  for (const request of requests) {
    const one = await connection(host);
    one.send(request);
    responses.push(await one.response());
  }
  return responses;
}

test('every response forbids browsers to guess its type', async () => {
  const responses = await everyKind({});
  expect(responses.map((response) => response?.headers['x-content-type-options'])).toEqual(
    responses.map(() => 'nosniff'),
  );
  expect(responses.map((response) => response?.headers['strict-transport-security'])).toEqual(
    responses.map(() => undefined),
  );
});

test('with an https publicUrl every response tells browsers to use https', async () => {
  const responses = await everyKind({ publicUrl: 'https://cairn.example.org' });
  expect(responses.map((response) => response?.headers['strict-transport-security'])).toEqual(
    responses.map(() => HSTS),
  );
});

test('connections of one address beyond its limit are closed at once, and a closed one frees its place', async () => {
  const host = await served({ connections: { maxConnectionsPerAddress: 2 } });
  const [first, second, third] = [await connection(host), await connection(host), await connection(host)];
  const get = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  third.send(get);
  expect(await third.response()).toBeNull();
  first.send(get);
  second.send(get);
  expect([(await first.response())?.status, (await second.response())?.status]).toEqual([200, 200]);
  first.close();
  await expect
    .poll(async () => {
      const again = await connection(host);
      again.send(get);
      return (await again.response())?.status;
    })
    .toBe(200);
});

test('a trusted proxy may open more connections than one address', async () => {
  const host = await served({ connections: { maxConnectionsPerAddress: 1 }, trustedProxies: ['127.0.0.0/8'] });
  const both = [await connection(host), await connection(host)];
  for (const one of both) one.send('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  expect(await Promise.all(both.map(async (one) => (await one.response())?.status))).toEqual([200, 200]);
});

test('connections beyond the total are closed at once', async () => {
  const host = await served({ connections: { maxConnections: 1 } });
  const [, second] = [await connection(host), await connection(host)];
  second.send('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  expect(await second.response()).toBeNull();
});

test('a connection with too many pipelined requests is closed', async () => {
  const host = await served();
  const one = await connection(host);
  one.send('GET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1_000));
  let answered = 0;
  while ((await one.response()) !== null) answered += 1;
  expect(answered).toBeLessThanOrEqual(10);
});
