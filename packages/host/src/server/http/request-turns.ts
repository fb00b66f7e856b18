/**
 * Spreads a flood of requests over many turns of the event loop, so that timers, streams and other connections get
 * their time in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EventLoop } from '../../engine/ports.ts';
import { RoundRobin } from './round-robin.ts';

/** The event loop, and what is done in this turn of it. */
export interface RequestLoop extends EventLoop {
  /** Calls back in this turn, after all reactions to promises. */
  afterReactions(go: () => void): void;
  /** How long this turn has lasted, whatever was done in it. */
  turnMs(): number;
}

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests begun in one turn may take this long together. The request that exceeds it is the last of the turn. */
const TURN_MS = 5;

/** In a turn that is long already they may take this much less. */
const LESS_MS = 3;

/** The first request of a caller in a turn begins at once, even if others wait, until the turn is this long. */
const FIRST_MS = 10;

/**
 * Requests without a response on one connection. One write of 64 KiB holds 1,500 small requests, and a turn reads
 * many writes: 20,000 pipelined requests blocked the loop for 200 ms.
 */
const MAX_PIPELINED = 10;

/** A deferred request with its response. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Returns a handler that begins requests in turns. Addresses take turns, then the callers at an address, then their
 * connections. A caller is who its headers say it is: nobody has checked that yet, which costs as much as to begin.
 */
export function inTurns(handle: Handle, loop: RequestLoop): Handle {
  const open = new WeakMap<Socket, number>();
  const waiting = new RoundRobin<Waiting>();
  const served = new Set<string>();
  let turnBegan: number | null = null;

  const begin = (): void => {
    turnBegan = null;
    served.clear();
    beginNext();
  };

  /** Begins deferred requests until the turn is over. Most of the work for one is done in reactions, so the next waits. */
  const beginNext = (): void => {
    while (waiting.size > 0 && turnMs() <= TURN_MS) {
      const next = waiting.next();
      if (next === null || next[0].socket.destroyed) continue;
      served.add(callerOf(next[0]));
      loop.afterReactions(beginNext);
      handle(...next);
      return;
    }
  };

  const turnMs = (): number => {
    const now = loop.elapsedMs();
    if (turnBegan === null) {
      turnBegan = now - Math.min(loop.turnMs(), LESS_MS);
      loop.nextTurn(begin);
    }
    return now - turnBegan;
  };

  /** Whether a request may begin before those that wait, or has none before it. */
  const isNow = (caller: string): boolean => {
    const ms = turnMs();
    if (waiting.size === 0 && ms <= TURN_MS) return true;
    return ms <= FIRST_MS && !served.has(caller);
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
    const caller = callerOf(request);
    // Requests of a connection keep their order, and so do those of a caller.
    if (!isNow(caller) || waiting.has(addressOf(request), caller)) {
      waiting.add([addressOf(request), caller, socket], [request, response]);
      return;
    }
    served.add(caller);
    handle(request, response);
  };
}

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? '';

const callerOf = (request: IncomingMessage): string =>
  `${addressOf(request)} ${request.headers.authorization ?? request.headers.cookie ?? ''}`;

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
