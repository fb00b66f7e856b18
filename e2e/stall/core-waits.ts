/** How long a process was ready to run and had no core: what a machine with few cores adds to every wait. */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const EVERY_MS = 5;
const MAX_SAMPLES = 10_000;

interface Sample {
  readonly at: number;
  /** Since the process began. */
  readonly ms: number;
  /** Since the first sample. */
  readonly countedMs: number;
}

/** Of the main thread. Only Linux tells; elsewhere all waits are 0. */
export class CoreWaits {
  readonly #path: string;
  readonly #samples: Sample[] = [];

  constructor(pid: number) {
    this.#path = `/proc/${pid}/task/${pid}/schedstat`;
    setInterval(() => this.#sample(), EVERY_MS);
  }

  /** Milliseconds between two instants, give or take what a sample is apart. */
  within(begin: number, end: number): number {
    const from = this.#samples.findLast(({ at }) => at <= begin) ?? this.#samples[0];
    const to = this.#samples.findLast(({ at }) => at <= end);
    return from === undefined || to === undefined ? 0 : to.countedMs - from.countedMs;
  }

  #sample(): void {
    try {
      const [, waitedNs] = readFileSync(this.#path, 'utf8').split(' ').map(Number);
      const [at, ms] = [performance.now(), (waitedNs ?? 0) / 1e6];
      const last = this.#samples.at(-1) ?? { at, ms, countedMs: 0 };
      // What is beyond a sample's time was a pause of this process, which `OwnPauses` counts.
      const most = at - last.at > 2 * EVERY_MS ? EVERY_MS : Number.POSITIVE_INFINITY;
      this.#samples.push({ at, ms, countedMs: last.countedMs + Math.min(ms - last.ms, most) });
      if (this.#samples.length > MAX_SAMPLES) this.#samples.splice(0, MAX_SAMPLES / 2);
    } catch {
      // The process is gone, or the system has no /proc.
    }
  }
}
