/** Checkpoints of a run's index, so that a fork of a long run folds a short tail. A checkpoint is never the truth. */
import type { IndexedRun } from './fold-run-index.ts';
import type { InterruptRecord, RunRecord } from './ports/run-index.ts';

/** Bump when the index of a run changes shape: older checkpoints are then ignored. */
const INDEX_FORMAT = 'run-index/2';

/** Rows between two checkpoints, and open interrupts that cost as much to write as so many rows. */
const EVERY_ROWS = 250;

interface Body {
  readonly format: string;
  readonly record: RunRecord;
  readonly open: readonly InterruptRecord[];
}

export interface IndexAt {
  readonly seq: number;
  readonly index: IndexedRun;
}

/** Whether the rows up to the present head make a checkpoint due. A few bytes for each row, and nothing to thin out. */
export function isIndexDue(
  previousSeq: number,
  { seq, open }: { readonly seq: number; readonly open: IndexedRun['open'] },
): boolean {
  const every = EVERY_ROWS * (1 + Math.floor(open.size / EVERY_ROWS));
  return Math.floor((seq + 1) / every) > Math.floor((previousSeq + 1) / every);
}

export function indexBody({ record, open }: IndexedRun): string {
  const body: Body = { format: INDEX_FORMAT, record, open: [...open.values()] };
  return JSON.stringify(body);
}

/** Null for a checkpoint of another format. */
export function indexOf(text: string): IndexedRun | null {
  const body: Body = JSON.parse(text);
  if (body.format !== INDEX_FORMAT) return null;
  return { record: body.record, open: new Map(body.open.map((interrupt) => [interrupt.interruptId, interrupt])) };
}
