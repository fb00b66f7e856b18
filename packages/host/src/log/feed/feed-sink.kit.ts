/** A sink that remembers, for the suites of the feed; not shipped. */
import type { Sink } from './sink.ts';

export interface Collector extends Sink {
  /** What `write` answers. */
  accepts: boolean;
  readonly chunks: string[];
  ended: number;
  fault: unknown;
  /** The ids of all frames, in the order they came. */
  positions(): readonly number[];
}

export function collector(): Collector {
  const chunks: string[] = [];
  return {
    accepts: true,
    chunks,
    ended: 0,
    fault: undefined,
    write({ text, rest = [] }) {
      const whole = text + rest.join('');
      if (whole !== '') chunks.push(whole);
      return this.accepts;
    },
    end(fault) {
      this.ended += 1;
      this.fault = fault;
    },
    positions: () => [...chunks.join('').matchAll(/^id: (\d+)$/gm)].map((found) => Number(found[1])),
  };
}

/** Lets every promise of a memory store and its feed come to rest; no timers are involved. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await null;
}
