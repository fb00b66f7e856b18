/** Saves a run's state now and then, so that loading a long run reads a short tail. */
import type { RunState } from '../core/state.ts';
import type { RunLoader } from './run-loader.ts';

/** Rows a run may be ahead of its checkpoint: while it is stepped, and once it rests or has ended and is read from the log. */
const MAX_TAIL = 1_000;
const MAX_TAIL_AT_REST = 125;

/** A shorter run is folded faster than a checkpoint is read. */
const WORTH_A_CHECKPOINT = 250;

export class Checkpoints {
  readonly #save: RunLoader['saveCheckpoint'];
  readonly #failed: (error: unknown) => void;
  /** seq of the newest one; -1 without one. */
  #seq = -1;

  constructor(save: RunLoader['saveCheckpoint'], failed: (error: unknown) => void) {
    this.#save = save;
    this.#failed = failed;
  }

  loadedAt(seq: number): void {
    this.#seq = seq;
  }

  /** The state is taken as text at once; nothing waits until that is stored. */
  saveWhenDue(state: RunState, isAtRest: boolean): void {
    const seq = state.nextSeq - 1;
    const tail = seq - this.#seq;
    const isDue = tail >= MAX_TAIL || (isAtRest && tail >= MAX_TAIL_AT_REST && state.nextSeq >= WORTH_A_CHECKPOINT);
    if (!isDue) return;
    this.#seq = seq;
    this.#save(state).catch(this.#failed);
  }
}
