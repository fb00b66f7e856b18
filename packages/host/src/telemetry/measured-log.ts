/** Wraps the log to measure append duration, failures, and whether the store accepted the last write. */
import { isCairnError } from '@cairn/protocol';
import type { Append, Appended, EventLog } from '../log/ports/event-log.ts';
import { hostInstruments } from './instruments.ts';
import type { Recorder } from './meter.ts';

/** The result of the store's most recent writes. */
export interface StoreHealth {
  /** Instants of the last durable write and of the last store failure; 0 when there was none. */
  readonly wroteAt: number;
  readonly failedAt: number;
  /** The error code of the last failure. */
  readonly failure: string;
}

export interface MeasuredLog {
  readonly log: EventLog;
  readonly health: StoreHealth;
  /** Records a write outside the log, such as a probe. */
  wrote(): void;
  failed(error: unknown): void;
}

export interface LogClocks {
  readonly now: () => number;
  readonly elapsedMs: () => number;
}

/** Other errors are refusals of invalid requests, and say nothing about the store. */
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
    // Observed on the side: the caller gets the log's own promise and no extra wait.
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
