/** Counters that limit what tenants and callers use on all nodes of a store together. */
export interface SharedCounters {
  /** What is in use on this node now, by name. */
  held(): Iterable<readonly [name: string, count: number]>;
  /** What this node spent of each rate, counted from any beginning. Names whose rate is unused may be left out. */
  spent(): Iterable<readonly [name: string, count: number]>;
  /** What is in use on the other nodes, in the place of what they said before. */
  elsewhere(held: ReadonlyMap<string, number>): void;
  /** Counts what another node spent of a rate. */
  charge(name: string, count: number): void;
}
