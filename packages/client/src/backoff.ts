/** How long to wait before asking again: what the host asks for, else longer after each failure. */
import { type CairnError, isCairnError } from '@cairn/protocol';
import type { Timers } from './timers.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/** A host that asks for more is asked again after this all the same: it may have come back long before. */
const LONGEST_ASKED_MS = 300_000;

/** Doubles from a quarter of a second to fifteen; the jitter keeps the clients of a restarted host apart. */
export function backoff(failures: number, timers: Timers): number {
  const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (ceiling / 2) * timers.random();
}

/** The wait before the next try after this failure; null when trying again cannot help. */
export function waitAfter(error: unknown, failures: number, timers: Timers): number | null {
  if (!isCairnError(error) || !error.retryable) return null;
  const asked = askedWait(error);
  return asked === null ? backoff(failures, timers) : Math.min(asked, LONGEST_ASKED_MS);
}

function askedWait(error: CairnError): number | null {
  const asked = error.details?.retryAfterMs;
  return typeof asked === 'number' && asked >= 0 ? asked : null;
}
