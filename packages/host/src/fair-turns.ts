/**
 * Spreads work over turns of the event loop. A turn does work up to a budget, the rest waits for the next turn, and the
 * owners of waiting work take turns. The first piece of an owner in a turn does not wait for the backlog of the others.
 */

export interface FairTurnOptions {
  /** Cost after which a turn begins no further work. The last piece of a turn may exceed it. */
  readonly budget: number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (begin: () => void) => void;
}

/** How far first pieces may take a turn past its budget, in budgets. */
const FIRST_PIECES = 2;

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

export class FairTurns {
  readonly #options: FairTurnOptions;
  /** Work by owner. The first owner is next, and goes to the end when more of its work waits. */
  readonly #waiting = new Map<string, Waiting[]>();
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
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [{ begin, refuse: reject }]);
      else queue.push({ begin, refuse: reject });
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
    const queues = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const queue of queues) for (const { refuse } of queue) refuse(error);
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
    for (const [owner, queue] of this.#waiting) {
      if (this.#spent >= this.#options.budget) break;
      // Iteration reaches an owner that was moved to the end again.
      this.#waiting.delete(owner);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(owner, queue);
      this.#served.add(owner);
      next?.begin();
    }
    if (this.#waiting.size > 0) this.#expectNext();
  }
}
