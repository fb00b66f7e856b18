/**
 * Spreads work over turns of the event loop. A turn does work up to a budget, the rest waits for the next turn, and the
 * owners of waiting work take turns. The first piece of an owner in a turn does not wait for the backlog of the others.
 */
import { RoundRobin } from './round-robin.ts';

export interface FairTurnOptions {
  /** Cost after which a turn begins no further work. The last piece of a turn may exceed it. */
  readonly budget: number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (begin: () => void) => void;
}

/** How far first pieces may take a turn past its budget, in budgets. */
const FIRST_PIECES = 2;

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

export class FairTurns {
  readonly #options: FairTurnOptions;
  /** Owners take turns. */
  readonly #waiting = new RoundRobin<Waiting>();
  /** Owners that did work in this turn. */
  readonly #served = new Set<string>();
  #spent = 0;
  #isNextComing = false;

  constructor(options: FairTurnOptions) {
    this.#options = options;
  }

  /** Does the work at once while this turn has room, else in a later turn. */
  take<Result>(owner: string, work: () => Result): Result | Promise<Result> {
    if (this.#hasRoom(owner)) {
      this.#served.add(owner);
      return work();
    }
    return new Promise<Result>((resolve, reject) => {
      const begin = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.add([owner], { owner, begin, refuse: reject });
    });
  }

  #hasRoom(owner: string): boolean {
    const { budget } = this.#options;
    if (this.#waiting.size === 0 && this.#spent < budget) return true;
    return !this.#served.has(owner) && !this.#waiting.has(owner) && this.#spent < budget * FIRST_PIECES;
  }

  /** Counts the cost of work, during or after it. */
  charge(cost: number): void {
    this.#spent += cost;
    this.#expectNext();
  }

  /** Fails all waiting work. */
  refuse(error: unknown): void {
    for (let next = this.#waiting.next(); next !== null; next = this.#waiting.next()) next.refuse(error);
  }

  #expectNext(): void {
    if (this.#isNextComing) return;
    this.#isNextComing = true;
    this.#options.nextTurn(() => this.#begin());
  }

  #begin(): void {
    this.#isNextComing = false;
    this.#spent = 0;
    this.#served.clear();
    while (this.#spent < this.#options.budget) {
      const next = this.#waiting.next();
      if (next === null) break;
      this.#served.add(next.owner);
      next.begin();
    }
    if (this.#waiting.size > 0) this.#expectNext();
  }
}
