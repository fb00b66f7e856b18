import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../../../test/kit/test-server.ts';
import { systemTimers } from '../compose.ts';
import { createEgress, type Resolve } from './egress.ts';
import { pinnedRequest } from './pinned-request.ts';

async function receiver(handle: RequestListener): Promise<{ readonly origin: string; readonly port: number }> {
  const origin = await testServer(handle);
  return { origin, port: Number(new URL(origin).port) };
}

const nowhere: Resolve = async () => {
  throw new Error('nothing should be resolved');
};

const egress = (allow: readonly string[], resolve: Resolve = nowhere) =>
  createEgress({ allow, resolve, timers: systemTimers });

const post = { method: 'POST', headers: { 'x-a': 'b' }, body: '{"é":1}', timeoutMs: 2_000, maxBodyBytes: 100 } as const;

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test('sends what it was given to an origin of the operator, and gives the answer', async () => {
  const seen: unknown[] = [];
  const { origin } = await receiver(async (request, response) => {
    seen.push(request.method, request.url, request.headers['x-a'], request.headers['content-length']);
    seen.push(await textOf(request));
    response.writeHead(202, { 'x-b': 'c' }).end('yes');
  });
  const answer = await egress([origin]).send({ ...post, url: `${origin}/hook?q=1#f` });
  expect(seen).toEqual(['POST', '/hook?q=1', 'b', '8', '{"é":1}']);
  expect([answer.status, answer.headers['x-b'], answer.body.toString(), answer.isCut]).toEqual([
    202,
    'c',
    'yes',
    false,
  ]);
});

test('does not follow a redirect', async () => {
  let asked = 0;
  const { origin } = await receiver((_request, response) => {
    asked += 1;
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect((await egress([origin]).send({ ...post, url: `${origin}/` })).status).toBe(307);
  expect(asked).toBe(1);
});

test('reads no more of an endless answer than it was asked to, and hangs up', async () => {
  let hungUp: Promise<unknown> = Promise.resolve();
  const { origin } = await receiver((_request, response) => {
    hungUp = once(response, 'close');
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  });
  const answer = await egress([origin]).send({ ...post, url: `${origin}/` });
  expect([answer.body.length, answer.isCut]).toEqual([100, true]);
  await hungUp;
});

test('a receiver that sends informational responses without end is cut off', async () => {
  const hungUp = Promise.withResolvers<void>();
  const endless = createSocketServer((socket) => {
    socket.on('error', () => undefined).on('close', () => hungUp.resolve());
    const more = () => {
      while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
    };
    socket.on('drain', more);
    more();
  });
  endless.listen(0, '127.0.0.1');
  await once(endless, 'listening');
  onTestFinished(() => void endless.close());
  const origin = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  const failed = expect(egress([origin]).send({ ...post, url: origin, timeoutMs: 60_000 })).rejects;
  await failed.toMatchObject({ code: 'http_network_error', message: expect.stringContaining('informational') });
  await hungUp.promise;
});

test('a receiver that takes the connection and says nothing is given up in time, as is one that never ends its answer', async () => {
  const silent = createSocketServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const drip = await receiver((_request, response) => void response.writeHead(200).write('a'));
  for (const origin of [`http://127.0.0.1:${port}`, drip.origin]) {
    const slow = egress([origin]).send({ ...post, url: `${origin}/secret-path`, timeoutMs: 30 });
    await expect(slow).rejects.toMatchObject({ code: 'http_timeout', message: expect.not.stringContaining('secret') });
  }
});

test('a refused connection is a network error that names origin and reason, not the path', async () => {
  const { origin, port } = await receiver(() => undefined);
  const free = port === 65_535 ? port - 1 : port + 1;
  const dead = origin.replace(String(port), String(free));
  const isFree = await new Promise<boolean>((resolve) => {
    connect(free, '127.0.0.1')
      .on('error', () => resolve(true))
      .on('connect', () => resolve(false));
  });
  if (!isFree) return;
  await expect(egress([dead]).send({ ...post, url: `${dead}/secret-path` })).rejects.toMatchObject({
    code: 'http_network_error',
    message: `${dead} could not be reached (ECONNREFUSED).`,
    retryable: true,
  });
});

test('the caller can give an exchange up', async () => {
  const { origin } = await receiver(() => undefined);
  const stop = new AbortController();
  const sent = egress([origin]).send({ ...post, url: `${origin}/`, signal: stop.signal });
  stop.abort();
  await expect(sent).rejects.toMatchObject({ code: 'http_network_error' });
});

test('a name is refused when any of its addresses is not public, at the check and again at each sending', async () => {
  let addresses = ['93.184.216.34'];
  const guarded = egress([], async () => addresses);
  await guarded.check('https://hook.example/');
  for (const rebound of [
    ['127.0.0.1'],
    ['93.184.216.34', '10.0.0.1'],
    ['::ffff:169.254.169.254'],
    ['fd00::1'],
    ['odd'],
  ]) {
    addresses = rebound;
    const rejected = expect.objectContaining({ code: 'http_url_rejected' });
    await expect(guarded.check('https://hook.example/')).rejects.toEqual(rejected);
    const sent: unknown = await guarded.send({ ...post, url: 'https://hook.example/?key=abc' }).catch((error) => error);
    expect(sent).toEqual(rejected);
    // The message is logged and listed; what follows the origin may be a secret.
    expect(String(sent)).not.toContain('abc');
  }
});

test('a name without an address is not found; a resolver that hangs is given up', async () => {
  await expect(egress([], async () => []).check('https://gone.example/')).rejects.toMatchObject({
    code: 'http_network_error',
    message: 'The name "gone.example" has no address.',
  });
  const hanging = egress(
    [],
    (_name, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  const sent = hanging.send({ ...post, url: 'https://slow.example/', timeoutMs: 20 });
  await expect(sent).rejects.toMatchObject({ code: 'http_timeout' });
});

test('the connection goes to the address that was checked, under the name that was asked for', async () => {
  const seen: unknown[] = [];
  const { port } = await receiver((request, response) => {
    seen.push(request.headers.host, request.socket.localAddress);
    response.end();
  });
  // The name cannot be resolved: only the pinned address can have been used.
  const answer = await pinnedRequest({
    url: new URL(`http://pinned.invalid:${port}/`),
    addresses: ['127.0.0.1'],
    method: 'GET',
    headers: {},
    maxBodyBytes: 10,
    signal: AbortSignal.timeout(2_000),
  });
  expect([answer.status, ...seen]).toEqual([200, `pinned.invalid:${port}`, '127.0.0.1']);
});
