/** While the event loop has no time left, live events go out a little later and together: each write spared is a step of a run. */
import type { Pace } from '../log/feed.ts';
import type { Timers } from './timers.ts';

/** How long the event loop has waited and worked so far, in milliseconds. */
export type LoopTime = () => { readonly idle: number; readonly active: number };

/** Nobody sees a delay of one frame on a screen. */
export const HOLD_MS = 20;

/** What the loop did is looked at in spans of at least this length. */
export const SPAN_MS = 50;

/** The share of its time the loop works from which on a span counts as busy. */
export const BUSY = 0.8;

/** A disk that takes long once makes one span busy; a host that has no time left, all of them. */
const BUSY_SPANS = 2;

export function streamPace(loopTime: LoopTime, timers: Timers): Pace {
  let last = loopTime();
  let busySpans = 0;
  return {
    holdMs() {
      const now = loopTime();
      const active = now.active - last.active;
      const span = active + now.idle - last.idle;
      if (span >= SPAN_MS) {
        busySpans = active >= span * BUSY ? busySpans + 1 : 0;
        last = now;
      }
      return busySpans < BUSY_SPANS ? 0 : HOLD_MS;
    },
    after: (ms, wake) => void timers.after(ms, wake),
  };
}
