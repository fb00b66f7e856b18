/** Work that an engine waits for before it closes. */
import { PassingSet } from '../../passing-map.ts';

export class WorkInProgress {
  readonly #all = new PassingSet<Promise<unknown>>();

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = work();
    this.#all.add(result);
    try {
      return await result;
    } finally {
      this.#all.delete(result);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
