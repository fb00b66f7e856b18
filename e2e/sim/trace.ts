/**
 * Records what happened, line by line, with one hash over all lines. Two runs of a seed are identical iff the hashes
 * agree.
 */
import { createHash, type Hash } from 'node:crypto';

const KEPT = 40;

export class Trace {
  readonly #hash: Hash = createHash('sha256');
  readonly #last: string[] = [];
  readonly #sink: ((line: string) => void) | undefined;
  step = 0;

  /** `sink` receives every line, including lines that are not kept. */
  constructor(sink?: (line: string) => void) {
    this.#sink = sink;
  }

  write(text: string): void {
    const line = `${String(this.step).padStart(4)}  ${text}`;
    this.#hash.update(line).update('\n');
    this.#last.push(line);
    if (this.#last.length > KEPT) this.#last.shift();
    this.#sink?.(line);
  }

  get last(): readonly string[] {
    return this.#last;
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
