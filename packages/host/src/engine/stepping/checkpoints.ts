/** Saves a run's state periodically, so that loading a long run reads only a short tail of its log. */
import type { RunState } from '../core/state.ts';
import type { RunLoader } from './run-loader.ts';

/** Maximum rows after the checkpoint: while the run is stepped, and once it rests or has ended. */
const MAX_TAIL = 1_000;
const MAX_TAIL_AT_REST = 125;

/** Minimum rows for a checkpoint of a resting run: folding a shorter run is faster than reading a checkpoint. */
const WORTH_A_CHECKPOINT = 250;

export class Checkpoints {
  readonly #save: RunLoader['saveCheckpoint'];
  readonly #failed: (error: unknown) => void;
  /** seq of the newest checkpoint; -1 if there is none. */
  #seq = -1;

  constructor(save: RunLoader['saveCheckpoint'], failed: (error: unknown) => void) {
    this.#save = save;
    this.#failed = failed;
  }

  loadedAt(seq: number): void {
    this.#seq = seq;
  }

  /** Serialises the state synchronously; the run does not wait for the write. */
  saveWhenDue(state: RunState, isAtRest: boolean): void {
    const seq = state.nextSeq - 1;
    const tail = seq - this.#seq;
    const isDue = tail >= MAX_TAIL || (isAtRest && tail >= MAX_TAIL_AT_REST && state.nextSeq >= WORTH_A_CHECKPOINT);
    if (!isDue) return;
    this.#seq = seq;
    this.#save(state).catch(this.#failed);
  }
}
