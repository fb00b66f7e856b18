/** The time of a page: frames, delays and a clock, so that tests can bring their own. */

export interface Frames {
  /** Before the next frame is drawn; in a page that is not shown, soon. */
  next(draw: () => void): void;
  /** Resolves once the next frame is drawn. */
  drawn(): Promise<void>;
  /** After a short rest. */
  later(act: () => void): void;
  wait(ms: number): Promise<void>;
  now(): number;
}

/** A page that is not shown draws no frames. */
const HIDDEN_FRAME_MS = 250;
const REST_MS = 1_000;

export const pageFrames: Frames = {
  next(draw) {
    let isDrawn = false;
    const once = () => {
      if (isDrawn) return;
      isDrawn = true;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      draw();
    };
    const frame = requestAnimationFrame(once);
    const timer = setTimeout(once, HIDDEN_FRAME_MS);
  },
  drawn: () => new Promise((resolve) => pageFrames.next(() => setTimeout(resolve))),
  later: (act) => void setTimeout(act, REST_MS),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  now: () => performance.now(),
};
