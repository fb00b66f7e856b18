/** The log with a watch on it: how long appends take, which fail, and whether the store took the last one. */
import { isCairnError } from '@cairn/protocol';
import type { Append, Appended, EventLog } from '../log/ports/event-log.ts';
import { hostInstruments } from './instruments.ts';
import type { Recorder } from './meter.ts';

/** How the store did when it was last asked to write something. */
export interface StoreHealth {
  /** Instant of the last write that became durable, and of the last that the store itself failed; 0 when there was none. */
  readonly wroteAt: number;
  readonly failedAt: number;
  /** The code of that failure. */
  readonly failure: string;
}

export interface MeasuredLog {
  readonly log: EventLog;
  readonly health: StoreHealth;
  /** Notes a write beside the log's, such as a probe. */
  wrote(): void;
  failed(error: unknown): void;
}

export interface LogClocks {
  readonly now: () => number;
  readonly elapsedMs: () => number;
}

/** Refusals that say nothing about the store: it was asked for what must not be. */
const isOfStore = (error: unknown): boolean => !isCairnError(error) || error.code.startsWith('store_');

export function measuredLog(log: EventLog, recorder: Recorder, { now, elapsedMs }: LogClocks): MeasuredLog {
  const health = { wroteAt: 0, failedAt: 0, failure: '' };
  const failed = (error: unknown): void => {
    if (!isOfStore(error)) return;
    health.failedAt = now();
    health.failure = isCairnError(error) ? error.code : 'internal_error';
  };
  const append = (asked: Append): Promise<Appended> => {
    const since = elapsedMs();
    const appended = log.append(asked);
    // Beside the caller, who gets the log's own promise and waits for nothing more.
    appended.then(
      () => {
        recorder.record(hostInstruments.appends, [], (elapsedMs() - since) / 1000);
        health.wroteAt = now();
      },
      (error: unknown) => {
        recorder.add(hostInstruments.appendFailures, [isCairnError(error) ? error.code : 'internal_error']);
        failed(error);
      },
    );
    return appended;
  };
  return {
    log: { ...log, append },
    health,
    wrote: () => {
      health.wroteAt = now();
    },
    failed,
  };
}
