/**
 * Gives readers large pages in turns of the event loop, one tenant after the other. Several may arrive at once, and what
 * their readers make of each takes milliseconds.
 */
import { FairTurns } from '../../fair-turns.ts';

/** Characters given in one turn: a page of large rows, or a few small ones. It takes about 3 ms to fold or render them. */
const TURN_COST = 196_608;

/** What a row costs besides its texts, in characters. */
const ROW_COST = 512;

/** Pages that cost less are given at once. */
const SMALL = 16_384;

type Rows = readonly (readonly unknown[])[];

export class PageTurns {
  readonly #turns: FairTurns;

  constructor(nextTurn: (go: () => void) => void) {
    this.#turns = new FairTurns({ budget: TURN_COST, nextTurn });
  }

  give<Page extends Rows>(owner: string, page: Page): Page | Promise<Page> {
    const cost = costOf(page);
    if (cost < SMALL) return page;
    return this.#turns.take(owner, () => {
      this.#turns.charge(cost);
      return page;
    });
  }
}

function costOf(rows: Rows): number {
  let cost = 0;
  for (const row of rows) {
    cost += ROW_COST;
    for (const column of row) if (typeof column === 'string') cost += column.length;
  }
  return cost;
}
