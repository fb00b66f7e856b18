import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createLoadView } from '../engine/run-view.ts';
import { LiveFeed } from '../log/feed.ts';
import { memoryStore } from '../log/memory.ts';
import { creation, row, runA } from '../log/samples.contract.ts';
import { EventStreams, KEEPALIVE_MS } from './event-streams.ts';
import { ManualTimers } from './served.contract.ts';
import { SnapshotFeed } from './snapshot-feed.ts';

const payload = JSON.stringify({ text: 'x'.repeat(100_000) });
const rows = Array.from({ length: 10 }, () => row('node.completed', { payload }));

/** A client that asked for a run's stream and reads nothing, and the response that is written to it. */
async function stalledClient(expiresAt?: number) {
  const { log, records } = memoryStore();
  await log.append(creation(runA));
  const timers = new ManualTimers();
  const snapshots = new SnapshotFeed(log, createLoadView({ log, records }));
  const clock = { at: 1_000_000 };
  const feed = new LiveFeed(log);
  const streams = new EventStreams({ feed, snapshots, timers, now: () => clock.at, report: () => undefined });
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    const modes = new Set(['debug'] as const);
    streams.serve(response, { runId: runA, lastSeq: null, audience: 'client', modes, bufferMs: 0, expiresAt });
    asked.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'readable');
  return { log, timers, clock, streams, socket, response: await asked.promise };
}

test('a client that stops reading costs the same memory however much is written, and is cut after a minute', async () => {
  const { log, timers, streams, response } = await stalledClient();
  let most = 0;
  for (let i = 0; i < 40; i += 1) {
    await log.append({ runId: runA, rows });
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, response.writableLength);
  }
  // 40 MB went into the run; the connection holds a page of it at most.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(1_000_000);
  const closed = once(response, 'close');
  for (let tick = 0; tick < 3; tick += 1) timers.pass(KEEPALIVE_MS);
  expect(response.destroyed).toBe(false);
  timers.pass(KEEPALIVE_MS);
  await closed;
  expect(streams.size).toBe(0);
});

test('a client that reads a little from time to time is not cut', async () => {
  const { log, timers, socket, response } = await stalledClient();
  // The two sockets hold about four megabytes between them: there must be more for every tick.
  for (let i = 0; i < 60; i += 1) await log.append({ runId: runA, rows });
  for (let tick = 0; tick < 8; tick += 1) {
    const drained = once(response, 'drain');
    socket.resume();
    await drained;
    socket.pause();
    timers.pass(KEEPALIVE_MS);
  }
  expect(response.destroyed).toBe(false);
});

test('no keepalive is written, and no timer runs, once nobody listens', async () => {
  const { timers, streams, socket, response } = await stalledClient();
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  expect([streams.size, timers.size]).toEqual([0, 0]);
});

test('a stream ends with the credential that opened it, and no earlier', async () => {
  const { timers, clock, streams, socket, response } = await stalledClient(1_060_000);
  socket.resume();
  clock.at = 1_059_999;
  timers.pass(KEEPALIVE_MS);
  expect([streams.size, response.writableEnded]).toEqual([1, false]);
  clock.at = 1_060_000;
  timers.pass(KEEPALIVE_MS);
  expect([streams.size, response.writableEnded]).toEqual([0, true]);
});
