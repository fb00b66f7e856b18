/** A run of the in-memory store, and its rows: its own and those that it shares with the run it was forked from. */
import type { FullHead } from '../admit.ts';
import type { Row } from '../ports/rows.ts';
import type { InterruptRecord } from '../ports/run-index.ts';

/** One run with all its data. */
export interface StoredRun {
  /** Number of the run in creation order, from 1. */
  readonly place: number;
  head: FullHead;
  /** Its own rows. A fork shares the rows before them with its source. */
  readonly rows: Row[];
  readonly source: StoredRun | null;
  readonly interrupts: Map<string, InterruptRecord>;
}

/** The seq of a run's first own row. */
const firstSeq = ({ head }: StoredRun): number => head.record.fork?.fromSeq ?? 0;

/** A row of a run: its own, or one that it shares. */
export function rowAt(run: StoredRun, seq: number): Row | undefined {
  let owner: StoredRun | null = run;
  while (owner !== null && seq < firstSeq(owner)) owner = owner.source;
  const row = owner?.rows[seq - firstSeq(owner)];
  if (row === undefined || owner === run) return row;
  const { runId, contextId } = run.head.record;
  return { ...row, runId, contextId };
}

/** Every row of a run, in order. */
export function* allRows(run: StoredRun): Iterable<Row> {
  for (let seq = 0; ; seq += 1) {
    const row = rowAt(run, seq);
    if (row === undefined) return;
    yield row;
  }
}

/** Rows that a run has: those of one run before a seq. */
interface Stretch {
  readonly owner: StoredRun;
  readonly through: number;
}

/** The runs that own the rows of a run: itself, its source, the source of that. */
export function stretchesOf(run: StoredRun): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let through = Number.POSITIVE_INFINITY;
  for (let owner: StoredRun | null = run; owner !== null; owner = owner.source) {
    stretches.push({ owner, through });
    through = Math.min(through, firstSeq(owner));
  }
  return stretches;
}
