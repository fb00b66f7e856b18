/**
 * Work of milliseconds, such as reading a large definition or result. However much of it arrives at once, each turn of
 * the event loop does only a few milliseconds, and tenants take turns.
 */
import { FairTurns } from '../../fair-turns.ts';
import type { EventLoop } from '../ports.ts';

/** Yields where others may go on. */
export type Sliced<Result> = Generator<undefined, Result>;

/** How long work goes on before the event loop gets to timers and sockets. */
const TURN_MS = 4;

export class LongWork {
  readonly #loop: EventLoop | null;
  readonly #turns: FairTurns | null;

  /** Without an event loop, work is done at once. */
  constructor(loop: EventLoop | null) {
    this.#loop = loop;
    this.#turns = loop && new FairTurns({ budget: TURN_MS, nextTurn: (begin) => loop.nextTurn(begin) });
  }

  /** Does work that cannot be divided, now or in a later turn. */
  take<Result>(tenant: string, work: () => Result): Result | Promise<Result> {
    const [turns, loop] = [this.#turns, this.#loop];
    if (turns === null || loop === null) return work();
    return turns.take(tenant, () => {
      const begin = loop.elapsedMs();
      try {
        return work();
      } finally {
        turns.charge(loop.elapsedMs() - begin);
      }
    });
  }

  /** Does work in slices. */
  async inSlices<Result>(tenant: string, work: Sliced<Result>): Promise<Result> {
    for (;;) {
      const part = await this.take(tenant, () => this.#slice(work));
      if (part.done === true) return part.value;
    }
  }

  #slice<Result>(work: Sliced<Result>): IteratorResult<undefined, Result> {
    const end = (this.#loop?.elapsedMs() ?? 0) + TURN_MS;
    for (;;) {
      const part = work.next();
      if (part.done === true || (this.#loop !== null && this.#loop.elapsedMs() >= end)) return part;
    }
  }
}

export function atOnce<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
