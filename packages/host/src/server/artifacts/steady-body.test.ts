/** Uploads over a real connection: slow ones arrive, stalled ones end. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { thrownText } from '@cairn/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OwnBodies } from '../http/own-bodies.ts';
import { RawConnection } from '../http/raw-http.kit.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { noop } from '../sample-workflows.kit.ts';
import { keys, served } from '../served.kit.ts';
import { LOOK_MS, steadyBody } from './steady-body.ts';

/** Reads one body, and answers with its size or with why it was given up. */
async function reader({ requestTimeout = 0, length = 10_000 } = {}) {
  const timers = new ManualTimers();
  const ownBodies = new OwnBodies();
  const arrivals: (() => void)[] = [];
  let bytes = 0;
  const read = async (request: IncomingMessage) => {
    for await (const piece of steadyBody(request, timers)) {
      bytes += piece.length;
      arrivals.shift()?.();
    }
    return `${bytes}`;
  };
  const server = createServer({ requestTimeout, connectionsCheckingInterval: 5 }, (request, response) => {
    ownBodies.add(request, response);
    read(request).then(
      (text) => response.end(text),
      (error: unknown) => response.setHeader('connection', 'close').end(thrownText(error)),
    );
  });
  const ignored = new Promise<void>((resolve) => {
    server.on('clientError', (error: Error & { code?: string }, socket) => {
      if (ownBodies.ends(error, socket)) socket.destroy();
      else resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await RawConnection.open((server.address() as AddressInfo).port);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  connection.send(`PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
  return {
    timers,
    connection,
    ignored,
    /** Sends bytes, and waits until the reader has them and waits for more. */
    async send(count: number) {
      const arrived = new Promise<void>((resolve) => arrivals.push(resolve));
      connection.send('x'.repeat(count));
      await arrived;
      await nextTurn();
    },
  };
}

test('an upload that brings some bytes in each span arrives, however long it takes', async () => {
  const { timers, connection, send } = await reader();
  for (let i = 0; i < 5; i += 1) {
    await send(2_000);
    timers.pass(LOOK_MS);
  }
  expect(await connection.response()).toMatchObject({ body: '10000' });
  expect(timers.size).toBe(0);
});

test.each([0, 10])('an upload that brings %d bytes in a span is given up after two spans', async (drip) => {
  const { timers, connection, send } = await reader();
  await send(5_000);
  timers.pass(LOOK_MS);
  for (let i = 0; i < 2; i += 1) {
    if (drip > 0) await send(drip);
    timers.pass(LOOK_MS);
  }
  expect((await connection.response())?.body).toContain('The upload stalled');
  expect(timers.size).toBe(0);
});

test('an upload that goes on for 45 minutes is given up', async () => {
  const { timers, connection, send } = await reader({ length: 200_000 });
  for (let i = 0; i < 180; i += 1) {
    await send(1_024);
    timers.pass(LOOK_MS);
  }
  expect((await connection.response())?.body).toContain('did not arrive within 45 minutes');
});

test('the time that Node gives a whole request does not end an upload', async () => {
  const { connection, send, ignored } = await reader({ requestTimeout: 20 });
  await send(5_000);
  await ignored;
  await send(5_000);
  expect(await connection.response()).toMatchObject({ body: '10000' });
});

test('a stalled edit of an artifact is told so, and its connection ends', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const { contextId } = await host.engine.start({ tenant: 't', workflowId: 'noop', inputs: {}, options: {} });
  const connection = await RawConnection.open(host.port);
  connection.send(
    `PUT /api/contexts/${contextId}/artifacts/a.bin HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\nauthorization: Bearer ${keys.alice}\r\ncontent-length: 9000\r\n\r\nx`,
  );
  for (let i = 0; i < 2; i += 1) {
    await vi.waitFor(() => expect(host.timers.waiting(LOOK_MS)).toBe(1));
    await nextTurn();
    host.timers.pass(LOOK_MS);
  }
  const answer = await connection.response('PUT');
  expect(answer).toMatchObject({ status: 408, headers: { connection: 'close' } });
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: 'upload_stalled', details: { withinMs: 30_000 } });
});
