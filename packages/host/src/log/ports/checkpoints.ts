/** Checkpoints: the folded state of a run at a row, and the position of a reader of the whole log. */
import type { RunId } from '@cairn/protocol';

export interface Checkpoints {
  /** Keeps only the newest checkpoint of a run. */
  put(checkpoint: Checkpoint): Promise<void>;
  get(runId: RunId): Promise<Checkpoint | null>;
  /** The position that a reader of `EventLog.changes` last saved; null when it saved none. */
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
