/** When the event loop is saturated, live events wait a little and go out together: each write spared is a step of a run. */

import type { Timers } from '../../engine/ports.ts';
import type { Pace } from '../../log/feed/pace.ts';

/** How long the event loop has waited and worked so far, in milliseconds. */
export type LoopTime = () => { readonly idle: number; readonly active: number };

/** A client sees 25 updates a second. */
export const HOLD_MS = 40;

/** The loop is measured in spans of at least this length. */
export const SPAN_MS = 50;

/** A span is busy when the loop works at least this share of it. */
export const BUSY = 0.8;

/** One slow flush to disk makes one span busy; on a saturated host all are. */
const BUSY_SPANS = 2;

export interface PacePorts {
  readonly loopTime: LoopTime;
  /** A monotonic clock. It costs a tenth of measuring the loop, and is read at every commit. */
  readonly elapsedMs: () => number;
  readonly timers: Timers;
}

export function streamPace({ loopTime, elapsedMs, timers }: PacePorts): Pace {
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
