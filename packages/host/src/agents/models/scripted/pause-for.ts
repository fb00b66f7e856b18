/** A delay on the host's clock that an abort cancels. */
import type { Clock } from '../../../engine/ports.ts';

/** Rejects with the signal's reason when aborted. */
export function pauseFor(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const callOff = clock.wakeAt(clock.now() + ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    const abort = () => {
      callOff();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}
