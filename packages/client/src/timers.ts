/** Time and randomness as ports, so that tests control both. */

export interface Timers {
  /** Calls `wake` once after so many milliseconds; returns a function that cancels it. */
  after(ms: number, wake: () => void): () => void;
  /** A number in [0, 1), for the jitter between reconnects. */
  random(): number;
  /** The longest delay between two tries to connect; without it, 15 seconds. */
  readonly longestWaitMs?: number;
}

export const realTimers: Timers = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** How long a hidden page, or a program without a page, may wait for a frame. */
const FRAME_MS = 100;

/** Calls `wake` once before the next paint, or soon where nothing is painted. Returns a function that cancels it. */
export function nextFrame(timers: Timers, wake: () => void): () => void {
  const paints = typeof requestAnimationFrame === 'function';
  const cancel = () => {
    cancelTimer();
    if (frame !== null) cancelAnimationFrame(frame);
  };
  const once = () => {
    cancel();
    wake();
  };
  const frame = paints ? requestAnimationFrame(once) : null;
  const cancelTimer = timers.after(paints ? FRAME_MS : 0, once);
  return cancel;
}

/** Milliseconds since 1970, by the clock of this machine. */
export const now = (): number => Date.now();

/** Bytes that nobody can guess. */
export const freshBytes = (count: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(count));

/** A key no other request has. Not `randomUUID`, which browsers keep from pages that are served without TLS. */
export function freshKey(): string {
  return Array.from(freshBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted first. */
export function pause(timers: Timers, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}
