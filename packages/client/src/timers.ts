/** Time and randomness as ports, so that tests control both. */

export interface Timers {
  /** Calls `wake` once after so many milliseconds; returns a function that cancels it. */
  after(ms: number, wake: () => void): () => void;
  /** A number in [0, 1), for the jitter between reconnects. */
  random(): number;
}

export const realTimers: Timers = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Milliseconds since 1970, by the clock of this machine. */
export const now = (): number => Date.now();

/** A key no other request has. Not `randomUUID`, which browsers keep from pages that are served without TLS. */
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
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
