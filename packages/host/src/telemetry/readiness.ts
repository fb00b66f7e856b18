/** Whether this host should receive requests: the store accepts writes, the engine is open, no shutdown is pending. */
import type { Timers } from '../engine/ports.ts';
import type { Checkpoints } from '../log/ports/checkpoints.ts';
import type { MeasuredLog } from './measured-log.ts';

/** Null for a ready part, else the reason why it is not ready. */
export interface ReadyState {
  readonly store: string | null;
  readonly engine: string | null;
  readonly server: string | null;
}

export interface Readiness {
  check(): Promise<ReadyState>;
  engineOpened(): void;
  stopping(): void;
}

export interface ReadinessPorts {
  readonly checkpoints: Pick<Checkpoints, 'putPosition'>;
  readonly measured: Pick<MeasuredLog, 'health' | 'wrote' | 'failed'>;
  readonly timers: Timers;
  readonly now: () => number;
}

/** A store that wrote within this time needs no probe. */
const RECENT_MS = 10_000;
/** A probe's result is cached for this long, so that frequent checks stay cheap. */
const PROBE_EVERY_MS = 1_000;
const PROBE_WITHIN_MS = 2_000;

export function createReadiness({ checkpoints, measured, timers, now }: ReadinessPorts): Readiness {
  let isOpen = false;
  let isStopping = false;
  let probedAt = Number.NEGATIVE_INFINITY;
  let probed: Promise<string | null> = Promise.resolve(null);

  async function probe(): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = timers.after(PROBE_WITHIN_MS, () => resolve('a write takes longer than two seconds'));
    const write = checkpoints.putPosition('readiness', String(now())).then(
      () => {
        measured.wrote();
        return null;
      },
      (error: unknown) => {
        measured.failed(error);
        return `a write failed (${measured.health.failure})`;
      },
    );
    const outcome = await Promise.race([write, promise]);
    cancel();
    return outcome;
  }

  function store(): Promise<string | null> {
    const { wroteAt, failedAt } = measured.health;
    if (wroteAt >= failedAt && now() - wroteAt < RECENT_MS) return Promise.resolve(null);
    if (now() - probedAt >= PROBE_EVERY_MS) {
      probedAt = now();
      probed = probe();
    }
    return probed;
  }

  return {
    check: async () => ({
      store: await store(),
      engine: isOpen ? null : 'it has not taken up its runs yet',
      server: isStopping ? 'it is stopping' : null,
    }),
    engineOpened: () => {
      isOpen = true;
    },
    stopping: () => {
      isStopping = true;
    },
  };
}
