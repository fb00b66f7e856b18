/** Writes a decision that takes long into the crash record, so that it is known if the process dies in it. */
import { writeSync } from 'node:fs';
import type { DecisionMemory } from './decision-memory.ts';

/** What the front of the crash record holds while no decision is in progress. */
export const NOBODY = Buffer.from('\n');

/** What it holds during a decision: the run, then the causes. */
export const lineOf = (decision: readonly string[]): Buffer => Buffer.from(`${JSON.stringify(decision)}\n`);

export class DecisionWatch {
  readonly #memory: DecisionMemory;
  readonly #fd: number;
  #seen: number;
  #isMarked = false;

  constructor(memory: DecisionMemory, fd: number) {
    this.#memory = memory;
    this.#fd = fd;
    this.#seen = memory.count;
    memory.watched();
  }

  /** Marks the decision if the last look saw it too. Returns the count it saw. */
  look(): number {
    const { count } = this.#memory;
    // A mark gives way to the next decision: the event loop may have written that one already.
    if (count === this.#seen || this.#isMarked) this.#mark(count);
    this.#seen = count;
    return count;
  }

  #mark(count: number): void {
    if (this.#isMarked && count === this.#seen) return;
    const decision = this.#memory.decision(count);
    if (decision !== null) this.#write(lineOf(decision));
    else if (this.#isMarked) this.#write(NOBODY);
    this.#isMarked = decision !== null;
  }

  #write(bytes: Buffer): void {
    if (!this.#memory.isStopped) writeSync(this.#fd, bytes, 0, bytes.length, 0);
  }
}
