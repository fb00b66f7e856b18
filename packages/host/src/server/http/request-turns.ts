/**
 * Spreads a flood of requests over many turns of the event loop, so that timers, streams and other connections get
 * their time in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EventLoop } from '../../engine/ports.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests begun in one turn may take this long together. The request that exceeds it is the last of the turn. */
const TURN_MS = 5;

/**
 * Requests without a response on one connection. One write of 64 KiB holds 1,500 small requests, and a turn reads
 * many writes: 20,000 pipelined requests blocked the loop for 200 ms.
 */
const MAX_PIPELINED = 10;

/** A deferred request with its response. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/** Returns a handler that begins requests in turns. Connections take turns too: one request each. */
export function inTurns(handle: Handle, loop: EventLoop): Handle {
  const open = new WeakMap<Socket, number>();
  const waiting = new Map<Socket, Waiting[]>();
  let turnBegan: number | null = null;

  /** Begins deferred requests until the turn is over, one of each connection at a time. */
  const begin = (): void => {
    turnBegan = null;
    for (const [socket, requests] of waiting) {
      if (isOver()) return;
      const first = requests.shift();
      waiting.delete(socket);
      if (requests.length > 0) waiting.set(socket, requests);
      if (first !== undefined && !socket.destroyed) handle(...first);
    }
  };

  const isOver = (): boolean => {
    const now = loop.elapsedMs();
    if (turnBegan === null) {
      turnBegan = now;
      loop.nextTurn(begin);
    }
    return now - turnBegan > TURN_MS;
  };

  return (request, response) => {
    const { socket } = request;
    const count = (open.get(socket) ?? 0) + 1;
    open.set(socket, count);
    if (count > MAX_PIPELINED) {
      if (!socket.destroyed) cutOff(socket);
      return;
    }
    response.once('close', () => open.set(socket, (open.get(socket) ?? 1) - 1));
    const ahead = waiting.get(socket);
    if (ahead !== undefined) ahead.push([request, response]);
    else if (waiting.size > 0 || isOver()) waiting.set(socket, [[request, response]]);
    else handle(request, response);
  };
}

/**
 * Closes a connection with hundreds of requests. Node makes an error for each of them, and traces of the stack that nobody
 * reads would take most of the time.
 */
function cutOff(socket: Socket): void {
  socket.prependOnceListener('close', () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    process.nextTick(() => {
      Error.stackTraceLimit = stackTraceLimit;
    });
  });
  socket.destroy();
}
