/** Finds out what became of a batch whose append failed: only the log shows whether its rows were written. */
import type { Backoff } from '../attempts/backoff.ts';
import type { Batch } from '../core/compose.ts';
import type { Fact } from '../core/facts.ts';
import type { HeldRun } from './held-run.ts';

type Holder = Pick<HeldRun, 'find' | 'appended' | 'refresh' | 'unload'>;

export interface LostBatchPorts {
  readonly backoff: Backoff;
  readonly isClosed: () => boolean;
  /** Called each time the log cannot be read; false to give up. */
  readonly failed: (error: unknown) => boolean;
}

/**
 * Returns null if the rows are not in the log; otherwise loads the run with them, and returns the ends of relatives that it
 * has missed. Asks until the log can be read, unless the mailbox closes: to write the rows again instead would record twice
 * what a call emitted.
 */
export async function foundInLog(batch: Batch, held: Holder, ports: LostBatchPorts): Promise<readonly Fact[] | null> {
  held.unload();
  const fence = await untilRead(() => held.find(batch), ports);
  if (fence === null) return null;
  held.appended(batch, fence);
  const missed = await untilRead(() => held.refresh(), ports);
  if (missed === null) held.unload();
  return missed;
}

async function untilRead<T>(read: () => Promise<T>, { backoff, isClosed, failed }: LostBatchPorts): Promise<T | null> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!failed(error) || isClosed()) return null;
    }
    await backoff.wait();
  }
}
