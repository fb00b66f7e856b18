/** Reads a stream over as many connections as it takes. */
import { backoff, waitAfter } from './backoff.ts';
import { linkedAbort } from './linked-abort.ts';
import { pause, type Timers } from './timers.ts';

/** Maximum time without data before a connection counts as dead. Hosts send a keepalive every 15 seconds. */
export const DEFAULT_SILENCE_MS = 60_000;

/** Yields the items of one connection. Returns whether the stream is over; if not, the next connection goes on. */
export type Connect<Item> = (
  signal: AbortSignal,
  /** To be called when data came: the delay before the next connection starts over. */
  succeeded: () => void,
) => AsyncGenerator<Item, boolean, undefined>;

export interface ReconnectOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when a connection broke and another one follows. */
  readonly onBreak?: (() => void) | undefined;
}

/** Ends with the stream. Throws the reason of the signal, or the error of a connection that no retry can help. */
export async function* reconnecting<Item>(
  timers: Timers,
  { signal, onBreak }: ReconnectOptions,
  connect: Connect<Item>,
): AsyncGenerator<Item, void, undefined> {
  const stop = linkedAbort(signal);
  let failures = 0;
  const succeeded = () => {
    failures = 0;
  };
  try {
    for (;;) {
      let wait: number | null;
      try {
        if (yield* connect(stop.signal, succeeded)) return;
        wait = backoff(failures, timers);
      } catch (error) {
        stop.signal.throwIfAborted();
        wait = waitAfter(error, failures, timers);
        if (wait === null) throw error;
      }
      onBreak?.();
      await pause(timers, wait, stop.signal);
      failures += 1;
    }
  } finally {
    stop.release();
    stop.abort();
  }
}
