/** A manual clock, so that no test waits or depends on the speed of the machine. */
import type { Clock } from '../../src/engine/ports.ts';

/** A pending timer. */
export interface Wake {
  readonly at: number;
  readonly order: number;
  readonly call: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #wakes = new Set<Wake>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wakeAt(at: number, wake: () => void): () => void {
    const entry: Wake = { at, order: this.#order, call: wake };
    this.#order += 1;
    this.#wakes.add(entry);
    return () => {
      this.#wakes.delete(entry);
    };
  }

  /** Sets the time, forwards or backwards, without firing timers; see `due`. */
  set(at: number): void {
    this.#now = at;
  }

  /** Due timers, earliest first. They stay pending until `fire`. */
  due(): readonly Wake[] {
    return [...this.#wakes].filter((wake) => wake.at <= this.#now).sort(byInstant);
  }

  /** Fires a due timer; does nothing if it was cancelled. */
  fire(wake: Wake): void {
    if (this.#wakes.delete(wake)) wake.call();
  }

  /** The time of the earliest pending timer. */
  next(): number | null {
    let earliest: number | null = null;
    for (const { at } of this.#wakes) if (earliest === null || at < earliest) earliest = at;
    return earliest;
  }

  /** Moves forward and fires every due timer at its own time, including timers set along the way. */
  advanceTo(at: number): void {
    for (;;) {
      const next = this.next();
      if (next === null || next > at) break;
      this.#now = Math.max(this.#now, next);
      const [first] = this.due();
      if (first !== undefined) this.fire(first);
    }
    this.#now = Math.max(this.#now, at);
  }

  advance(ms: number): void {
    this.advanceTo(this.#now + ms);
  }

  /** Drops all pending timers, as a crash of the process does. */
  forget(): void {
    this.#wakes.clear();
  }

  get waiting(): number {
    return this.#wakes.size;
  }
}

const byInstant = (a: Wake, b: Wake): number => a.at - b.at || a.order - b.order;
