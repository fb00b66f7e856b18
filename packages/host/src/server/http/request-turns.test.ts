import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { inTurns } from './request-turns.ts';

/** Handles requests that each cost a millisecond, on connections by name, and lets the test pass the turns. */
function turns() {
  const clock = { at: 0 };
  const begun: string[] = [];
  const later: (() => void)[] = [];
  const sockets = new Map<string, EventEmitter & { destroyed: boolean; destroy(): void }>();
  const closed: (() => void)[] = [];
  const handle = inTurns(
    (request) => {
      clock.at += 1;
      begun.push(request.url ?? '');
    },
    { elapsedMs: () => clock.at, nextTurn: (work) => later.push(work) },
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
    socketOf,
    closed,
    send(connection: string, url = connection) {
      const request: Partial<IncomingMessage> = { url, socket: socketOf(connection) as EventEmitter as Socket };
      const response = new EventEmitter();
      closed.push(() => response.emit('close'));
      handle(request as IncomingMessage, response as ServerResponse);
    },
    nextTurn() {
      begun.length = 0;
      for (const work of later.splice(0)) work();
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
