import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { patientFetch } from './patient-fetch.ts';

const HINT = 'HTTP/1.1 103 Early Hints\r\n\r\n';

/** A peer that sends so many hints, and then its answer. */
async function peer(hints: number) {
  const hungUp = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    let left = hints;
    const more = () => {
      for (let has = true; has && left > 0 && !socket.destroyed; left -= 1) has = socket.write(HINT);
      if (left === 0) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone');
    };
    socket.on('error', () => undefined).on('close', () => hungUp.resolve());
    socket.on('drain', more).once('data', more);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hungUp: hungUp.promise };
}

const patient = patientFetch(globalThis.fetch);

test('a few informational responses are read over', async () => {
  expect(await (await patient((await peer(3)).url)).text()).toBe('done');
});

test('a peer that sends informational responses without end is cut off', async () => {
  const { url, hungUp } = await peer(Number.POSITIVE_INFINITY);
  await expect(patient(url)).rejects.toThrow('fetch failed');
  await hungUp;
});

test('the body, its end and an abort pass through as they are', async () => {
  const { url } = await peer(0);
  expect((await patient(url, { method: 'POST', body: 'x' })).status).toBe(200);
  await expect(patient(url, { signal: AbortSignal.abort(new Error('given up')) })).rejects.toThrow('given up');
});

/** A peer that answers each request with a text, and then with another one without end, if there is one. */
async function raw(begin: string, flood = '') {
  const hungUp = Promise.withResolvers<void>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const more = () => {
      while (!socket.destroyed && socket.write(flood));
    };
    socket.on('error', () => undefined).on('close', () => hungUp.resolve());
    socket.on('data', () => {
      socket.write(begin);
      if (flood !== '') socket.on('drain', more) && more();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, hungUp: hungUp.promise, connections: () => connections };
}

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

test.for([
  ['empty lines before its response', '', '\r\n'.repeat(32_768)],
  ['a status line', 'HTTP/1.1 200 ', 'a'.repeat(65_536)],
  ['short headers', 'HTTP/1.1 200 OK\r\n', 'a:\r\n'.repeat(16_000)],
  ['an extension of a chunk', `${chunked}1;`, 'a'.repeat(65_536)],
  ['chunks with extensions', chunked, `1;${'b'.repeat(4_000)}\r\n \r\n`.repeat(16)],
  ['trailers', `${chunked}1\r\n \r\n0\r\n`, 'a:\r\n'.repeat(16_000)],
] as const)('a peer that sends %s without end is cut off', async ([, begin, flood]) => {
  const { url, hungUp } = await raw(begin, flood);
  await expect(patient(url).then((response) => response.text())).rejects.toThrow(/fetch failed|terminated/);
  await hungUp;
});

test('a body in the smallest pieces is read whole, however slowly, and a connection is used again', async () => {
  const pieces = 100_000;
  const { url, connections } = await raw(`${chunked}${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`);
  for (let request = 0; request < 2; request += 1) {
    let bytes = 0;
    for await (const piece of (await patient(url)).body ?? []) {
      await new Promise((resolve) => setImmediate(resolve));
      bytes += piece.length;
    }
    expect(bytes).toBe(pieces);
  }
  expect(connections()).toBe(1);
});
