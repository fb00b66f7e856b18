import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Endable, endedName } from './ended-sessions.ts';
import { HeldResponses, LOOK_AGAIN_MS } from './held-responses.ts';

const owner: Endable = { tenant: 't', id: 'session-1' };
const caller = { tenant: owner.tenant, endableId: owner.id };

/** Responses of a real server, a store that says who ended, and timers that fire when the test says so. */
async function bench() {
  const over = new Set<string>();
  let isAway = false;
  const timers: { readonly ms: number; readonly wake: () => void }[] = [];
  const held = new HeldResponses({
    ended: {
      async has(one) {
        if (isAway) throw new Error('The store is away.');
        return over.has(endedName(one));
      },
    },
    timers: {
      after(ms, wake) {
        const timer = { ms, wake };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    },
  });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<ServerResponse> => {
    get({ port, host: '127.0.0.1', agent: false }).on('error', () => undefined);
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    return response;
  };
  const away = (is: boolean) => {
    isAway = is;
  };
  const look = async () => {
    for (const timer of timers.splice(0)) timer.wake();
    await new Promise(setImmediate);
  };
  return { held, over, timers, open, look, away };
}

test('a session whose end nobody told this node of loses its streams within a minute', async () => {
  const { held, over, timers, open, look } = await bench();
  const [one, two, other] = [await open(), await open(), await open()];
  held.hold(caller, one);
  held.hold(caller, two);
  held.hold({ ...caller, endableId: 'session-2' }, other);
  expect(timers.map(({ ms }) => ms)).toEqual([LOOK_AGAIN_MS, LOOK_AGAIN_MS]);
  await look();
  expect([one, two, other].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  over.add(endedName(owner));
  await look();
  expect([one, two, other].map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
});

test('a store that is away cuts a stream that begins, and none that was let in before', async () => {
  const { held, over, open, look, away } = await bench();
  const before = await open();
  held.hold(caller, before);
  await look();
  away(true);
  const begun = await open();
  held.hold(caller, begun);
  await look();
  expect([before.destroyed, begun.destroyed]).toEqual([false, true]);
  away(false);
  over.add(endedName(owner));
  await look();
  expect(before.destroyed).toBe(true);
});

test('nothing is looked up for a session once its last stream has closed', async () => {
  const { held, timers, open } = await bench();
  const [one, two] = [await open(), await open()];
  held.hold(caller, one);
  held.hold(caller, two);
  for (const [response, left] of [
    [one, 1],
    [two, 0],
  ] as const) {
    const closed = once(response, 'close');
    response.destroy();
    await closed;
    expect(timers.length).toBe(left);
  }
});
