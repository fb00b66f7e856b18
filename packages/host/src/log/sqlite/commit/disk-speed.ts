/** Whether the event loop may wait for a flush itself: on a quick disk that is quicker than to have a thread do it. */

/** A flush that takes so long is a slow one. */
const SLOW_MS = 1;
/** After a slow flush, its milliseconds squared times so many go to the thread pool before another one is tried. */
const PAUSE_PER_SQUARE_MS = 4;
const MAX_PAUSE = 4_096;

/**
 * Every disk is slow now and then: a flush of 1.5 ms in fifty changes little. A disk that others write to is quick for most
 * flushes and takes 20 ms for some; the event loop waits for one of those in 1,600 at most.
 *
 * Only flushes that the event loop waited for are judged. One in the pool seems to last until the event loop learns of its
 * end, so that a busy host would take every disk for a slow one, and two threads would wait for each other at every commit.
 */
export class DiskSpeed {
  #pause = 0;

  /** Whether the next flush goes to the pool. */
  get isSlow(): boolean {
    return this.#pause > 0;
  }

  /** The event loop waited so long for a flush. */
  waited(ms: number): void {
    if (ms >= SLOW_MS) this.#pause = Math.min(Math.ceil(ms * ms * PAUSE_PER_SQUARE_MS), MAX_PAUSE);
  }

  /** A flush in the pool has ended. */
  passed(): void {
    if (this.#pause > 0) this.#pause -= 1;
  }
}
