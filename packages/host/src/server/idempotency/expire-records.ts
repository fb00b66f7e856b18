/** Removes old idempotency records, some at a time, while requests are served. */
import type { Report, Timers } from '../../engine/ports.ts';
import type { IdempotencyRecords } from '../../log/ports/idempotency.ts';
import { IDEMPOTENCY_RETENTION_MS } from './idempotency.ts';

export interface ExpiryPorts {
  readonly idempotency: Pick<IdempotencyRecords, 'expireSome'>;
  readonly now: () => number;
  readonly timers: Timers;
  readonly report: Report;
}

const EXPIRE_EVERY_MS = 3_600_000;

/** Returns the function that stops it after the step that it takes. */
export function startExpiry({ idempotency, now, timers, report }: ExpiryPorts): () => Promise<void> {
  let isClosed = false;
  let cancel = (): void => {};
  let current: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    const before = now() - IDEMPOTENCY_RETENTION_MS;
    try {
      while (!isClosed && (await idempotency.expireSome(before)) > 0);
    } catch (error) {
      if (!isClosed) report({ level: 'warn', event: 'idempotency.expire_failed', error });
    }
    if (!isClosed) wait();
  };
  const wait = (): void => {
    cancel = timers.after(EXPIRE_EVERY_MS, () => {
      current = round();
    });
  };
  wait();
  return async () => {
    isClosed = true;
    cancel();
    await current;
  };
}
