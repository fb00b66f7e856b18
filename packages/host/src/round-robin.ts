/**
 * Queued items that take turns at each level of their path: first by its first key, then by its second, and so on. A key
 * whose items cost more than a round's worth sits out rounds, so that keys share cost, not the number of items.
 */

interface Lane<Item> {
  readonly items: RoundRobin<Item> | Item[];
  /** What its items have cost beyond what its rounds paid for. */
  owed: number;
}

/** What each round pays for a key, in the unit of the costs. */
const PAID = 1;

/** A key sits out no more rounds than this for what it did before. */
const MAX_OWED = 16;

export class RoundRobin<Item> {
  /** The first key is next. It goes to the end while more of it waits. */
  readonly #lanes = new Map<unknown, Lane<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Paths of all items have the same length. */
  add([key, ...rest]: readonly unknown[], item: Item): void {
    const known = this.#lanes.get(key);
    const lane = known ?? { items: rest.length === 0 ? [] : new RoundRobin<Item>(), owed: 0 };
    if (known === undefined) this.#lanes.set(key, lane);
    if (lane.items instanceof RoundRobin) lane.items.add(rest, item);
    else lane.items.push(item);
    this.#size += 1;
  }

  /** Whether something waits whose path begins with these keys. */
  has(...[key, ...rest]: readonly unknown[]): boolean {
    const lane = this.#lanes.get(key);
    return lane?.items instanceof RoundRobin && rest.length > 0 ? lane.items.has(...rest) : lane !== undefined;
  }

  /** What an item of this path cost. It counts for keys of which more waits. */
  charge([key, ...rest]: readonly unknown[], cost: number): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    lane.owed = Math.min(MAX_OWED, lane.owed + cost);
    if (lane.items instanceof RoundRobin) lane.items.charge(rest, cost);
  }

  /** Removes and returns the next item. */
  next(): Item | null {
    // The iteration comes to a key again that was moved to the end.
    for (const [key, lane] of this.#lanes) {
      const { items } = lane;
      this.#lanes.delete(key);
      if (lane.owed >= PAID) {
        lane.owed -= PAID;
        this.#lanes.set(key, lane);
        continue;
      }
      const item = items instanceof RoundRobin ? items.next() : (items.shift() ?? null);
      const left = items instanceof RoundRobin ? items.size : items.length;
      if (left > 0) this.#lanes.set(key, lane);
      this.#size -= 1;
      return item;
    }
    return null;
  }
}
