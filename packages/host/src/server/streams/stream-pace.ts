/** While the event loop has no time left, live events go out a little later and together: each write spared is a step of a run. */

import type { Timers } from '../../engine/ports.ts';
import type { Pace } from '../../log/feed/pace.ts';

/** How long the event loop has waited and worked so far, in milliseconds. */
export type LoopTime = () => { readonly idle: number; readonly active: number };

/** Who watches sees what happens 25 times a second. */
export const HOLD_MS = 40;

/** What the loop did is looked at in spans of at least this length. */
export const SPAN_MS = 50;

/** The share of its time the loop works from which on a span counts as busy. */
export const BUSY = 0.8;

/** A disk that takes long once makes one span busy; a host that has no time left, all of them. */
const BUSY_SPANS = 2;

export interface PaceWorld {
  readonly loopTime: LoopTime;
  /** A clock that only goes forward. It costs a tenth of a look at the loop, and is asked with every commit. */
  readonly elapsedMs: () => number;
  readonly timers: Timers;
}

export function streamPace({ loopTime, elapsedMs, timers }: PaceWorld): Pace {
  let last = loopTime();
  let lookedAt = elapsedMs();
  let busySpans = 0;
  return {
    holdMs() {
      const at = elapsedMs();
      if (at - lookedAt >= SPAN_MS) {
        const now = loopTime();
        const active = now.active - last.active;
        const span = active + now.idle - last.idle;
        busySpans = active >= span * BUSY ? busySpans + 1 : 0;
        last = now;
        lookedAt = at;
      }
      return busySpans < BUSY_SPANS ? 0 : HOLD_MS;
    },
    after: (ms, wake) => void timers.after(ms, wake),
  };
}
