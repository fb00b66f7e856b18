/**
 * Spreads a flood of requests over many turns of the event loop, so that timers, streams and other connections get
 * their time in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EventLoop } from '../../engine/ports.ts';
import { RoundRobin } from '../../round-robin.ts';

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

/**
 * The first requests of a caller in a turn begin at once, even if others wait, until the turn is this long or they took
 * this much of it.
 */
const FIRST_MS = 10;
const FIRST_OF_CALLER_MS = 2;

/**
 * Requests without a response on one connection. One write of 64 KiB holds 1,500 small requests, and a turn reads
 * many writes: 20,000 pipelined requests blocked the loop for 200 ms.
 */
const MAX_PIPELINED = 10;

/** A deferred request with its response. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Returns a handler that begins requests in turns. Addresses take turns, then the callers at an address, then their
 * connections: each has the same share of time, however long its requests take. A caller is who its headers say it is.
 * That is not checked yet, which costs as much as to begin.
 */
export function inTurns(handle: Handle, loop: RequestLoop): Handle {
  const waiting = new RoundRobin<Waiting>();
  /** Milliseconds by caller in this turn. */
  const spent = new Map<string, number>();
  let turnBegan: number | null = null;

  const begin = (): void => {
    turnBegan = null;
    spent.clear();
    beginNext();
  };

  /** Begins deferred requests until the turn is over. Most of the work for one is done in reactions, so the next waits. */
  const beginNext = (): void => {
    while (waiting.size > 0 && turnMs() <= TURN_MS) {
      const next = waiting.next();
      if (next === null || next[0].socket.destroyed) continue;
      start(next, beginNext);
      return;
    }
  };

  /** Begins a request, and counts its time up to the end of all reactions. */
  const start = ([request, response]: Waiting, over: () => void): void => {
    const caller = callerOf(request);
    const path = [addressOf(request), caller, request.socket];
    let counted = loop.elapsedMs();
    const count = (): void => {
      const now = loop.elapsedMs();
      spent.set(caller, (spent.get(caller) ?? 0) + now - counted);
      waiting.charge(path, now - counted);
      counted = now;
    };
    loop.afterReactions(() => {
      count();
      over();
    });
    handle(request, response);
    count();
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
    return ms <= FIRST_MS && (spent.get(caller) ?? 0) < FIRST_OF_CALLER_MS;
  };

  return withoutPipelines((request, response) => {
    const caller = callerOf(request);
    // Requests of a connection keep their order, and so do those of a caller.
    if (!isNow(caller) || waiting.has(addressOf(request), caller)) {
      waiting.add([addressOf(request), caller, request.socket], [request, response]);
      return;
    }
    start([request, response], () => {});
  });
}

/** Closes connections that send many requests before they have read the responses. */
function withoutPipelines(handle: Handle): Handle {
  const open = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const count = (open.get(socket) ?? 0) + 1;
    open.set(socket, count);
    if (count > MAX_PIPELINED) {
      if (!socket.destroyed) cutOff(socket);
      return;
    }
    response.once('close', () => open.set(socket, (open.get(socket) ?? 1) - 1));
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
