/** Marks a decision that takes long, so that it is known if the process dies in it. */
import { writeSync } from 'node:fs';
import type { DecisionMemory } from './decision-memory.ts';

/** What the front of the crash record holds while no decision is in progress. */
export const NOBODY = Buffer.from('\n');

/** What it holds during a decision: the run, then the causes. */
export const lineOf = (decision: readonly string[]): Buffer => Buffer.from(`${JSON.stringify(decision)}\n`);

/** Keeps the decision that is in progress, outside of the process; null when none is. */
export type KeepDecision = (decision: readonly string[] | null) => void;

/** In the file of a crash record. */
export const keptInFile =
  (fd: number): KeepDecision =>
  (decision) => {
    const bytes = decision === null ? NOBODY : lineOf(decision);
    writeSync(fd, bytes, 0, bytes.length, 0);
  };

export class DecisionWatch {
  readonly #memory: DecisionMemory;
  readonly #keep: KeepDecision;
  #seen: number;
  #isMarked = false;

  constructor(memory: DecisionMemory, keep: KeepDecision) {
    this.#memory = memory;
    this.#keep = keep;
    this.#seen = memory.count;
    memory.watched();
  }

  /** Marks the decision if the last look saw it too, or if the event loop waits for it. Returns the count it saw. */
  look(): number {
    const { count } = this.#memory;
    // A mark gives way to the next decision: the event loop may have written that one already.
    if (count === this.#seen || this.#isMarked || this.#memory.isUrgent(count)) this.#mark(count);
    this.#seen = count;
    return count;
  }

  #mark(count: number): void {
    if (this.#isMarked && count === this.#seen) return;
    const decision = this.#memory.decision(count);
    if ((decision !== null || this.#isMarked) && !this.#memory.isStopped) this.#keep(decision);
    this.#isMarked = decision !== null;
  }
}

/** A decision that fills the memory of the process takes far longer; an ordinary one takes well under 1 ms. */
const LOOK_MS = 20;

/** Looks until the memory is stopped. `kept` resolves once the last mark is outside of the process. */
export async function lookUntilStopped(
  memory: DecisionMemory,
  watch: DecisionWatch,
  kept: () => Promise<void> | void = () => undefined,
): Promise<void> {
  while (!memory.isStopped) {
    const count = watch.look();
    await kept();
    memory.marked(count);
    memory.sleep(count, LOOK_MS);
  }
}
