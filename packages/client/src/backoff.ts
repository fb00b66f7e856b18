/** Retry delays: what the host asks for, else exponential backoff with jitter. */
import { type CairnError, isCairnError } from '@cairn/protocol';
import type { Timers } from './timers.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/** Upper bound of a delay that the host asks for: it may recover sooner. */
const LONGEST_ASKED_MS = 300_000;

/** Doubles from 0.25 s to 15 s, or to what the client was told. The jitter spreads the clients of a restarted host. */
export function backoff(failures: number, timers: Timers): number {
  const ceiling = Math.min(timers.longestWaitMs ?? LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (ceiling / 2) * timers.random();
}

/** The delay before the next attempt after this failure; null if a retry cannot help. */
export function waitAfter(error: unknown, failures: number, timers: Timers): number | null {
  if (!isCairnError(error) || !error.retryable) return null;
  const asked = askedWait(error);
  return asked === null ? backoff(failures, timers) : Math.min(asked, LONGEST_ASKED_MS);
}

function askedWait(error: CairnError): number | null {
  const asked = error.details?.retryAfterMs;
  return typeof asked === 'number' && asked >= 0 ? asked : null;
}
