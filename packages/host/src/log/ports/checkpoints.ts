/** Checkpoints: the folded state of a run at a row, and the position of a reader of the whole log. */
import type { RunId } from '@cairn/protocol';

export interface Checkpoints {
  /** Ignored if a later one is kept. Older ones are thinned out, see `isSuperseded`. */
  put(checkpoint: Checkpoint): Promise<void>;
  /** The newest checkpoint of a run, or the newest at or before a row. */
  get(runId: RunId, atMost?: number): Promise<Checkpoint | null>;
  /** The position that a reader of `ChangeLog` last saved; null when it saved none. */
  position(reader: string): Promise<string | null>;
  putPosition(reader: string, position: string): Promise<void>;
}

export interface Checkpoint {
  readonly runId: RunId;
  /** The state after this row. */
  readonly seq: number;
  /** The version of the body; a reader ignores a format it does not know. */
  readonly format: string;
  readonly body: string;
}

/** The rows between the checkpoints around one that goes. */
const THINNED_TO_ROWS = 300;

/** The most bytes of a checkpoint that stays, for each row between its neighbours. */
const BYTES_PER_ROW = 50;

/**
 * Whether the newest checkpoint goes when the next one is put: the checkpoints around it are close enough without it. So a
 * run keeps at most one for every 150 rows and 100 bytes of them for each row. Its state at any row is folded from 300
 * rows, or from one row for every 50 bytes of its size; the length of the run does not matter.
 */
export const isSuperseded = (
  bytes: number,
  { before, after }: { readonly before: number; readonly after: number },
): boolean => after - before <= Math.max(THINNED_TO_ROWS, bytes / BYTES_PER_ROW);
