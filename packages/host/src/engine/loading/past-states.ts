/**
 * A bounded cache of past states that readers asked for lately. A reader of the next event, or another fork there, folds
 * only the rows since then instead of those since the nearest checkpoint. The log stays the source of truth.
 */
import type { RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';
import type { RunState } from '../core/state.ts';
import { stateText } from './state-text.ts';

/** Runs that are remembered, and the largest state as JSON: to write and read it takes less than to fold it again. */
const RUNS = 64;
const MAX_BYTES = 65_536;

/** Rows that make it worth to remember a state. */
const MIN_FOLDED = 32;

export interface PastState {
  /** The last row that it includes. */
  readonly seq: number;
  readonly body: string;
}

export class PastStates {
  readonly #states = new LruMap<RunId, PastState>(RUNS);

  /** The state if it is at or before the row, and after the other one that is known. */
  nearest<Known extends PastState>(runId: RunId, atMost: number, known: Known | null): PastState | Known | null {
    const found = this.#states.get(runId);
    return found !== undefined && found.seq <= atMost && found.seq > (known?.seq ?? -1) ? found : known;
  }

  /** `bytes` is an upper bound of the state's size, `folded` the rows that it took to find it. */
  note(state: RunState, cost: { readonly bytes: number; folded: number }) {
    if (cost.folded < MIN_FOLDED || cost.bytes > MAX_BYTES) return;
    this.#states.set(state.runId, { seq: state.nextSeq - 1, body: stateText(state) });
  }
}
