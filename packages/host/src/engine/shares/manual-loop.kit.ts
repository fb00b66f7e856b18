/** An event loop whose turns are given by the test, and whose clock only work moves; not shipped. */
import type { EventLoop } from '../ports.ts';

export interface ManualLoop extends EventLoop {
  readonly clock: { ms: number };
  /** Gives one turn, with the reactions to its promises. Resolves to the milliseconds that it took. */
  turn(): Promise<number>;
}

export function manualLoop(): ManualLoop {
  const waiting: (() => void)[] = [];
  const clock = { ms: 0 };
  return {
    clock,
    elapsedMs: () => clock.ms,
    nextTurn: (go) => void waiting.push(go),
    async turn() {
      const begin = clock.ms;
      for (const go of waiting.splice(0)) go();
      for (let i = 0; i < 50; i += 1) await null;
      return clock.ms - begin;
    },
  };
}
