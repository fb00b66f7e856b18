import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { inTurns } from './request-turns.ts';

/** Handles requests on connections by name, each for a millisecond or as `costs` says, and lets the test pass the turns. */
function turns() {
  const costs = new Map<string, number>();
  const clock = { at: 0 };
  const turn = { began: 0 };
  const begun: string[] = [];
  const later: (() => void)[] = [];
  const reactions: (() => void)[] = [];
  const sockets = new Map<string, EventEmitter & { destroyed: boolean; destroy(): void }>();
  const closed: (() => void)[] = [];
  const handle = inTurns(
    (request) => {
      clock.at += costs.get(request.url ?? '') ?? 1;
      begun.push(request.url ?? '');
    },
    {
      elapsedMs: () => clock.at,
      nextTurn: (work) => void later.push(work),
      afterReactions: (work) => void reactions.push(work),
      turnMs: () => clock.at - turn.began,
    },
  );
  const socketOf = (name: string) => {
    const made = Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy() {
        made.destroyed = true;
      },
    });
    const socket = sockets.get(name) ?? made;
    sockets.set(name, socket);
    return socket;
  };
  return {
    begun,
    costs,
    socketOf,
    closed,
    /** Requests of callers in `as` have their keys. */
    send(connection: string, url = connection, as = 'key') {
      const socket = socketOf(connection) as EventEmitter as Socket;
      const request: Partial<IncomingMessage> = { url, socket, headers: { authorization: as } };
      const response = new EventEmitter();
      closed.push(() => response.emit('close'));
      handle(request as IncomingMessage, response as ServerResponse);
    },
    nextTurn() {
      turn.began = clock.at;
      begun.length = 0;
      for (const work of later.splice(0)) work();
      for (let work = reactions.shift(); work !== undefined; work = reactions.shift()) work();
    },
  };
}

test('requests beyond the time of a turn begin in later turns, one of each connection at a time', () => {
  const { send, begun, nextTurn } = turns();
  for (let i = 0; i < 10; i += 1) send('a', `a${i}`);
  expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5']);
  send('b', 'b0');
  nextTurn();
  expect(begun).toEqual(['a6', 'b0', 'a7', 'a8', 'a9']);
});

test('the first requests of a caller in a turn do not wait for the many of another one', () => {
  const { send, begun, nextTurn } = turns();
  for (let i = 0; i < 300; i += 1) send(`many${i}`, `many${i}`, 'attacker');
  expect(begun.length).toBe(6);
  for (let i = 0; i < 4; i += 1) send('b', `b${i}`, 'victim');
  expect(begun.slice(6)).toEqual(['b0', 'b1']);
  nextTurn();
  expect(begun.slice(0, 4)).toEqual(['many6', 'b2', 'b3', 'many7']);
  send('b', 'b4', 'victim');
  expect(begun).not.toContain('b4');
  nextTurn();
  expect(begun.slice(0, 2)).toContain('b4');
});

test('a caller whose requests take long has fewer of them begun than one whose requests are short', () => {
  const { send, begun, nextTurn, costs } = turns();
  costs.set('long', 4);
  for (let i = 0; i < 20; i += 1) send(`many${i}`, 'long', 'attacker');
  for (let i = 0; i < 10; i += 1) send(`b${i}`, 'short', 'victim');
  const order = [...begun];
  for (let i = 0; i < 12; i += 1) {
    nextTurn();
    order.push(...begun);
  }
  const until = order.lastIndexOf('short');
  expect(order.filter((url) => url === 'short')).toHaveLength(10);
  expect(order.slice(0, until).filter((url) => url === 'long').length).toBeLessThanOrEqual(5);
});

test('one that claims to be many callers takes a turn to its end and no further', () => {
  const { send, begun, nextTurn } = turns();
  for (let i = 0; i < 300; i += 1) send(`c${i}`, `c${i}`, `forged${i}`);
  expect(begun.length).toBe(11);
  nextTurn();
  expect(begun.length).toBe(6);
});

test('a connection with more unanswered requests than it may have is closed, and the rest is not begun', () => {
  const { send, begun, socketOf, closed, nextTurn } = turns();
  for (let i = 0; i < 10; i += 1) send('a', `a${i}`);
  for (const done of closed) done();
  expect(socketOf('a').destroyed).toBe(false);
  for (let i = 10; i < 21; i += 1) send('a', `a${i}`);
  expect(socketOf('a').destroyed).toBe(true);
  nextTurn();
  expect(begun).toEqual([]);
});

test('the errors of a cut connection have no stack, and later ones do', async () => {
  const { send, socketOf } = turns();
  for (let i = 0; i < 12; i += 1) send('a', `a${i}`);
  const limit = Error.stackTraceLimit;
  const socket = socketOf('a');
  let atClose = limit;
  socket.once('close', () => {
    atClose = Error.stackTraceLimit;
  });
  socket.emit('close');
  expect(atClose).toBe(0);
  await new Promise((resolve) => process.nextTick(resolve));
  expect(Error.stackTraceLimit).toBe(limit);
});
