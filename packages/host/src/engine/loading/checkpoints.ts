/** Saves a run's state periodically, so that loading a long run reads only a short tail of its log. */
import type { NewRow } from '../../log/ports/rows.ts';
import type { RunState } from '../core/state.ts';
import type { LoadedCheckpoint } from './recent-states.ts';
import type { RunLoader } from './run-loader.ts';

/** Minimum rows after the checkpoint before the next one: while the run is stepped, and once it rests or has ended. */
const MIN_TAIL = 250;
const MIN_TAIL_AT_REST = 125;

/** Minimum rows for a checkpoint of a resting run: folding a shorter run is faster than reading a checkpoint. */
const WORTH_A_CHECKPOINT = 250;

/**
 * A checkpoint is due only when its tail has a row for every so many bytes of the state, so that the cost per row does not
 * grow with the state. Reading and folding a row takes about as long as writing 500 bytes of state. A run that rests is
 * loaded when it wakes, so its tail may cost as much as its state. One that is stepped is loaded again only after a crash:
 * with 500 bytes, checkpoints took 18 % of the CPU of an agent that streams a long text.
 */
const BYTES_PER_ROW_AT_REST = 500;
const BYTES_PER_ROW = 150;

/**
 * A state with more bytes of values gets no checkpoint; its run is folded from the log, page by page. Writing and reading
 * a checkpoint is one turn of the event loop each: 16 MB took 200 ms to serialise, 180 ms to write and 60 ms to read.
 */
const MAX_STATE_BYTES = 1_000_000;

export class CheckpointSaver {
  readonly #save: RunLoader['saveCheckpoint'];
  readonly #failed: (error: unknown) => void;
  /** seq of the newest checkpoint; -1 if there is none. */
  #seq = -1;
  /** Size of the newest checkpoint. */
  #bytes = 0;
  #tailBytes = 0;

  constructor(save: RunLoader['saveCheckpoint'], failed: (error: unknown) => void) {
    this.#save = save;
    this.#failed = failed;
  }

  /** Upper bound of the state's size as JSON: its last checkpoint and everything recorded since. */
  get stateBytes(): number {
    return this.#bytes + this.#tailBytes;
  }

  get newest(): LoadedCheckpoint {
    return { seq: this.#seq, bytes: this.#bytes, tailBytes: this.#tailBytes };
  }

  loadedAt({ seq, bytes, tailBytes }: LoadedCheckpoint): void {
    this.#seq = seq;
    this.#bytes = bytes;
    this.#tailBytes = tailBytes;
  }

  appended(rows: readonly NewRow[]): void {
    this.#tailBytes += payloadBytes(rows);
  }

  /** Serialises the state synchronously; the run does not wait for the write. */
  saveWhenDue(state: RunState, isAtRest: boolean): void {
    const seq = state.nextSeq - 1;
    const tail = seq - this.#seq;
    const isLong = tail >= MIN_TAIL || (isAtRest && tail >= MIN_TAIL_AT_REST && state.nextSeq >= WORTH_A_CHECKPOINT);
    const bytesPerRow = isAtRest ? BYTES_PER_ROW_AT_REST : BYTES_PER_ROW;
    if (!isLong || tail * bytesPerRow < this.#bytes || state.bytes > MAX_STATE_BYTES) return;
    const { bytes, saved } = this.#save(state);
    saved.catch(this.#failed);
    this.#seq = seq;
    this.#bytes = bytes;
    this.#tailBytes = 0;
  }
}

export function payloadBytes(rows: readonly Pick<NewRow, 'payload'>[]): number {
  let bytes = 0;
  for (const row of rows) bytes += row.payload.length;
  return bytes;
}
