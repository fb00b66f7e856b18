/** A manual clock, so that no test waits or depends on the speed of the machine. */
import type { Clock } from '../../src/engine/ports.ts';

/** A pending timer. */
export interface Wake {
  /** The instant asked for. */
  readonly at: number;
  /** The same on a clock that nobody sets: a timer keeps its delay, as in a process. */
  readonly due: number;
  readonly order: number;
  readonly call: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  /** By how much the clock was set forward in all. */
  #setBy = 0;
  #order = 0;
  readonly #wakes = new Set<Wake>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wakeAt(at: number, wake: () => void): () => void {
    const entry: Wake = { at, due: at - this.#setBy, order: this.#order, call: wake };
    this.#order += 1;
    this.#wakes.add(entry);
    return () => {
      this.#wakes.delete(entry);
    };
  }

  /** Somebody sets the clock, forwards or backwards: no time passes. */
  set(at: number): void {
    this.#setBy += at - this.#now;
    this.#now = at;
  }

  /** Lets time pass without firing timers; see `due`. */
  pass(ms: number): void {
    this.#now += ms;
  }

  /** Due timers, earliest first. They stay pending until `fire`. */
  due(): readonly Wake[] {
    return [...this.#wakes].filter((wake) => wake.due <= this.#now - this.#setBy).sort(byInstant);
  }

  /** Fires a due timer; does nothing if it was cancelled. */
  fire(wake: Wake): void {
    if (this.#wakes.delete(wake)) wake.call();
  }

  /** What the clock will show when the earliest pending timer is due. */
  next(): number | null {
    const first = this.#first();
    return first === null ? null : first.due + this.#setBy;
  }

  #first(): Wake | null {
    let first: Wake | null = null;
    for (const wake of this.#wakes) if (first === null || byInstant(wake, first) < 0) first = wake;
    return first;
  }

  /** Moves forward and fires every due timer at its own time, including timers set along the way. */
  advanceTo(at: number): void {
    for (;;) {
      const first = this.#first();
      if (first === null || first.due + this.#setBy > at) break;
      this.#now = Math.max(this.#now, first.due + this.#setBy);
      this.fire(first);
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

const byInstant = (a: Wake, b: Wake): number => a.due - b.due || a.order - b.order;
