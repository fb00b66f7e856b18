/** Queued items that take turns at each level of their path: first by its first key, then by its second, and so on. */

type Lane<Item> = RoundRobin<Item> | Item[];

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
    const lane = known ?? (rest.length === 0 ? [] : new RoundRobin<Item>());
    if (known === undefined) this.#lanes.set(key, lane);
    if (lane instanceof RoundRobin) lane.add(rest, item);
    else lane.push(item);
    this.#size += 1;
  }

  /** Whether something waits whose path begins with these keys. */
  has(...[key, ...rest]: readonly unknown[]): boolean {
    const lane = this.#lanes.get(key);
    return lane instanceof RoundRobin && rest.length > 0 ? lane.has(...rest) : lane !== undefined;
  }

  /** Removes and returns the next item. */
  next(): Item | null {
    const [first] = this.#lanes;
    if (first === undefined) return null;
    const [key, lane] = first;
    const item = lane instanceof RoundRobin ? lane.next() : (lane.shift() ?? null);
    const left = lane instanceof RoundRobin ? lane.size : lane.length;
    this.#lanes.delete(key);
    if (left > 0) this.#lanes.set(key, lane);
    this.#size -= 1;
    return item;
  }
}
