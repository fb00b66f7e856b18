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
