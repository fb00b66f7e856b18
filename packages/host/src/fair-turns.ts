/**
 * Spreads work over turns of the event loop. A turn does work up to a budget, the rest waits for the next turn, and the
 * owners of waiting work take turns, so that one tenant's backlog never delays another's next piece by more than one of
 * its own.
 */

export interface FairTurnOptions {
  /** Cost after which a turn begins no further work. The last piece of a turn may exceed it. */
  readonly budget: number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (begin: () => void) => void;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

export class FairTurns {
  readonly #options: FairTurnOptions;
  /** Work by owner. The first owner is next, and goes to the end when more of its work waits. */
  readonly #waiting = new Map<string, Waiting[]>();
  #spent = 0;
  #isNextComing = false;

  constructor(options: FairTurnOptions) {
    this.#options = options;
  }

  /** Does the work at once while this turn has room and nobody waits, else in a later turn. */
  take<Result>(owner: string, work: () => Result): Result | Promise<Result> {
    if (this.#waiting.size === 0 && this.#spent < this.#options.budget) return work();
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
    for (const [owner, queue] of this.#waiting) {
      if (this.#spent >= this.#options.budget) break;
      // Iteration reaches an owner that was moved to the end again.
      this.#waiting.delete(owner);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(owner, queue);
      next?.begin();
    }
    if (this.#waiting.size > 0) this.#expectNext();
  }
}
