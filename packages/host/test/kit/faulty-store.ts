/** A store with injected faults of the disk, the commit or the acknowledgement. */
import { RetryableError } from '@cairn/protocol';
import type { Append, Appended } from '../../src/log/ports/event-log.ts';
import type { Store } from '../../src/log/ports/store.ts';

/**
 * - `torn`: the process dies during the write, and none of the batch is stored.
 * - `failed`: the commit fails, and nothing is written.
 * - `lost-ack`: the batch is written and followers are notified, but the caller gets an error.
 * - `slow`: the write waits for `releaseNext`.
 * - `full`: the disk is full for this and all later appends, until `makeRoom` is called.
 */
export type Fault = 'torn' | 'failed' | 'lost-ack' | 'slow' | 'full';

/** Decides the fault of each append; `number` counts from 0. */
export type FaultPlan = (append: Append, number: number) => Fault | null;

export interface FaultyStore extends Store {
  /** The number of appends that `slow` holds back. */
  readonly waiting: number;
  /** Releases the oldest slow append. */
  releaseNext(): void;
  makeRoom(): void;
}

export function faultyStore(base: Store, plan: FaultPlan): FaultyStore {
  const slow: (() => void)[] = [];
  const underWay = new Set<Promise<Appended>>();
  let count = 0;
  let full = false;

  async function write(append: Append): Promise<Appended> {
    const fault = plan(append, count);
    count += 1;
    if (fault === 'full') full = true;
    if (full) throw noSpace();
    if (fault === 'torn') throw broken('the process died while it wrote the batch');
    if (fault === 'failed') throw broken('the commit failed');
    if (fault === 'slow') await new Promise<void>((resolve) => slow.push(resolve));
    const appended = await base.log.append(append);
    if (fault === 'lost-ack') throw broken('the acknowledgement was lost');
    return appended;
  }

  function append(append: Append): Promise<Appended> {
    const writing = write(append);
    underWay.add(writing);
    const done = (): void => void underWay.delete(writing);
    writing.then(done, done);
    return writing;
  }

  return {
    ...base,
    log: { ...base.log, append },
    get waiting() {
      return slow.length;
    },
    releaseNext: () => slow.shift()?.(),
    makeRoom: () => {
      full = false;
    },
    async close() {
      for (const release of slow.splice(0)) release();
      await Promise.allSettled(underWay);
      await base.close();
    },
  };
}

const broken = (how: string): RetryableError =>
  new RetryableError('store_failed', { message: `The store failed: ${how}.`, hint: 'Read again, then decide again.' });

const noSpace = (): RetryableError =>
  new RetryableError('store_full', { message: 'No space is left.', hint: 'Free space.' });
