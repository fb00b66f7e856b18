/**
 * The event loop as all parts of the host share it. Each part does a few milliseconds of its long work in a turn. Together
 * they would make a turn of 40 ms, so those that find it long enough already wait for the next one.
 */
import type { EventLoop } from '../engine/ports.ts';

export interface LoopPorts {
  readonly elapsedMs: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (go: () => void) => void;
  /** Calls back in this turn, after all reactions to promises. */
  readonly afterReactions: (go: () => void) => void;
  /** How long this turn has lasted, whatever was done in it. */
  readonly turnMs: () => number;
}

/**
 * Long work goes on until the turn is this long, requests and commits included. A part begins if half of one that takes as
 * long as the part before it still fits: after one of 5 ms the turn is over, and not 10 ms long. A request of another
 * caller takes about eight turns from its start to its last event.
 */
const TURN_MS = 6;

/** Time for long work in a turn that is long already, so that requests cannot starve it. */
const LEAST_MS = 2;

/**
 * The event loop accepts one connection in a turn. While more arrive, long work leaves the turns to them, but not longer
 * than this: a thousand connections of one client would otherwise delay the next client by a thousand turns of work.
 */
const ARRIVING_MS = 40;

export class LaterTurns implements EventLoop {
  readonly #ports: LoopPorts;
  readonly #waiting: (() => void)[] = [];
  /** Of those that wait, how many may begin in this turn. */
  #due = 0;
  #end = 0;
  #workedAt = Number.NEGATIVE_INFINITY;
  #isArmed = false;
  #hasArrivals = false;

  constructor(ports: LoopPorts) {
    this.#ports = ports;
  }

  elapsedMs(): number {
    return this.#ports.elapsedMs();
  }

  nextTurn(go: () => void): void {
    this.#waiting.push(go);
    this.#arm();
  }

  turnMs(): number {
    return this.#ports.turnMs();
  }

  afterReactions(go: () => void): void {
    this.#ports.afterReactions(go);
  }

  /** A connection was accepted in this turn, so that another one may wait. */
  arrived(): void {
    this.#hasArrivals = true;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#ports.nextTurn(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isArmed = false;
    const now = this.#ports.elapsedMs();
    const yields = this.#hasArrivals && now < this.#workedAt + ARRIVING_MS;
    this.#hasArrivals = false;
    if (yields) {
      this.#arm();
      return;
    }
    // What is added from now on is for a later turn.
    this.#due = this.#waiting.length;
    this.#end = now + Math.max(LEAST_MS, TURN_MS - this.#ports.turnMs());
    this.#next();
  };

  /** Much of the work is done in reactions to promises, so the next one begins after them. */
  readonly #next = (): void => {
    const go = this.#due === 0 ? undefined : this.#waiting.shift();
    if (go === undefined) {
      this.#over();
      return;
    }
    this.#due -= 1;
    const began = this.#ports.elapsedMs();
    this.#ports.afterReactions(() => {
      const now = this.#ports.elapsedMs();
      if (now + (now - began) / 2 < this.#end) this.#next();
      else this.#over();
    });
    go();
  };

  #over(): void {
    this.#workedAt = this.#ports.elapsedMs();
    if (this.#waiting.length > 0) this.#arm();
  }
}
