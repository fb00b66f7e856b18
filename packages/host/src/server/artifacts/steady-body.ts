/** Yields the bytes of an upload as they arrive, however slowly. Gives up on one that stalls or takes too long. */
import type { IncomingMessage } from 'node:http';
import { RetryableError } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';

/** The check interval. The host gives up if it got too little in two intervals in a row while it was waiting for bytes. */
export const LOOK_MS = 15_000;
const SILENT_LOOKS = 2;
const MIN_BYTES = 1_024;

/** Maximum number of checks of an upload: 45 minutes. Its blobs are kept for an hour. */
const MAX_LOOKS = 180;

/** Leaves the connection open when the loop ends early: the client gets a response. */
export async function* steadyBody(request: IncomingMessage, timers: Timers): AsyncGenerator<Buffer> {
  const pieces: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  const watch = new Watch(timers);
  try {
    for (;;) {
      const next = await watch.heard(pieces.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    watch.end();
    const returned = pieces.return?.();
    // It would wait for bytes that never arrive.
    if (watch.hasGivenUp) returned?.catch(() => undefined);
    else await returned;
  }
}

class Watch {
  readonly #timers: Timers;
  #callOff: () => void;
  /** Set while the host waits for bytes. */
  #giveUp: ((error: Error) => void) | null = null;
  hasGivenUp = false;
  #bytes = 0;
  #silent = 0;
  #looks = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
    this.#callOff = this.#lookLater();
  }

  async heard(next: Promise<IteratorResult<Buffer>>): Promise<IteratorResult<Buffer>> {
    try {
      const result = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        this.#giveUp = reject;
        next.then(resolve, reject);
      });
      if (result.done !== true) this.#bytes += result.value.length;
      return result;
    } finally {
      this.#giveUp = null;
    }
  }

  end(): void {
    this.#callOff();
  }

  /** One timer at a time, however many pieces come. */
  #lookLater(): () => void {
    return this.#timers.after(LOOK_MS, () => {
      this.#looks += 1;
      this.#silent = this.#giveUp !== null && this.#bytes < MIN_BYTES ? this.#silent + 1 : 0;
      this.#bytes = 0;
      const isStalled = this.#silent >= SILENT_LOOKS;
      if (this.#giveUp === null || !(isStalled || this.#looks >= MAX_LOOKS)) this.#callOff = this.#lookLater();
      else {
        this.hasGivenUp = true;
        this.#giveUp(isStalled ? stalled() : tooSlow());
      }
    });
  }
}

const stalled = (): RetryableError =>
  new RetryableError('upload_stalled', {
    message: `The upload stalled: less than ${MIN_BYTES} bytes arrived in each of the last ${SILENT_LOOKS} spans of ${LOOK_MS / 1000} seconds.`,
    hint: 'Send the whole body again, with the same Idempotency-Key.',
    details: { withinMs: SILENT_LOOKS * LOOK_MS, bytes: MIN_BYTES },
  });

const tooSlow = (): RetryableError =>
  new RetryableError('upload_stalled', {
    message: `The body did not arrive within ${(MAX_LOOKS * LOOK_MS) / 60_000} minutes.`,
    hint: 'Send it over a faster line, or in parts, as several artifacts.',
    details: { withinMs: MAX_LOOKS * LOOK_MS },
  });
