/** Checkpoints of folds. */
import type { RunId } from '@cairn/protocol';

export interface Checkpoint {
  readonly runId: RunId;
  /** The state after this row. */
  readonly seq: number;
  /** What wrote it; a state of another format is ignored. */
  readonly format: string;
  readonly body: string;
}
