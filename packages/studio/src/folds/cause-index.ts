/** Which row caused which, both ways. The past needs no copy: it is what has a smaller sequence. */
import type { RunRow } from './run-row.ts';

/** Most rows that a walk visits. */
const MAX_WALK = 400;

const none: readonly number[] = [];

export class CauseIndex {
  readonly #causes = new Map<number, number>();
  readonly #effects = new Map<number, number[]>();
  /** Rows whose cause is an event of another run or host, with its id. */
  readonly #outside = new Map<number, string>();

  take({ seq, cause }: RunRow): void {
    if (cause === undefined) return;
    if (typeof cause !== 'number') {
      this.#outside.set(seq, cause);
      return;
    }
    // Every cause comes before its effect; anything else is no cause, and would make a walk endless.
    if (cause >= seq || this.#causes.has(seq)) return;
    this.#causes.set(seq, cause);
    const effects = this.#effects.get(cause);
    if (effects === undefined) this.#effects.set(cause, [seq]);
    else effects.push(seq);
  }

  causeOf(seq: number): number | undefined {
    return this.#causes.get(seq);
  }

  outsideCauseOf(seq: number): string | undefined {
    return this.#outside.get(seq);
  }

  /** In order. With `upTo`, those of the past. */
  effectsOf(seq: number, upTo = Number.POSITIVE_INFINITY): readonly number[] {
    const effects = this.#effects.get(seq) ?? none;
    return upTo === Number.POSITIVE_INFINITY ? effects : effects.filter((effect) => effect <= upTo);
  }

  /** From the cause of a row up to the first one. */
  ancestorsOf(seq: number): readonly number[] {
    const chain: number[] = [];
    let next = this.#causes.get(seq);
    while (next !== undefined && chain.length < MAX_WALK) {
      chain.push(next);
      next = this.#causes.get(next);
    }
    return chain;
  }

  /** Everything that a row led to, the nearest first. */
  descendantsOf(seq: number, upTo = Number.POSITIVE_INFINITY): readonly number[] {
    const found: number[] = [];
    const queue = [seq];
    for (let at = 0; at < queue.length && found.length < MAX_WALK; at += 1) {
      const of = queue[at];
      if (of === undefined) break;
      for (const effect of this.#effects.get(of) ?? none) {
        if (effect > upTo || found.length >= MAX_WALK) break;
        found.push(effect);
        queue.push(effect);
      }
    }
    return found;
  }
}
