/** A clock that moves only when it is told to, so that no test waits and none depends on how fast the machine is. */
import type { Clock } from '../../src/engine/ports.ts';

/** Somebody who waits for an instant. */
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

  /** Jumps, also backwards, without waking anybody; see `due`. */
  set(at: number): void {
    this.#now = at;
  }

  /** Those whose instant has come, earliest first. They stay until `fire`. */
  due(): readonly Wake[] {
    return [...this.#wakes].filter((wake) => wake.at <= this.#now).sort(byInstant);
  }

  /** Wakes one that is due; nothing happens if it was called off. */
  fire(wake: Wake): void {
    if (this.#wakes.delete(wake)) wake.call();
  }

  /** The earliest instant somebody waits for. */
  next(): number | null {
    let earliest: number | null = null;
    for (const { at } of this.#wakes) if (earliest === null || at < earliest) earliest = at;
    return earliest;
  }

  /** Moves forward and wakes all who are due on the way, each at its own instant, also those who ask meanwhile. */
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

  /** Forgets everybody who waits: what a crash does to a process's timers. */
  forget(): void {
    this.#wakes.clear();
  }

  get waiting(): number {
    return this.#wakes.size;
  }
}

const byInstant = (a: Wake, b: Wake): number => a.at - b.at || a.order - b.order;
