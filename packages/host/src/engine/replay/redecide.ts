/** Decides a whole recorded run again, page by page, and reports the first divergence. */
import type { RunId } from '@cairn/protocol';
import { evolve } from '../core/evolve.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { RunState } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { Divergence, RecordedRow } from './recorded-row.ts';
import { Redecision } from './redecision.ts';

export interface Redecided {
  /** Rows that agree with the record. */
  readonly events: number;
  readonly divergence: Divergence | null;
  /** The state after them. */
  readonly state: RunState;
}

/** The run as its rows name it, and the workflow with the agents that the run is pinned to. */
export interface RecordedRun {
  readonly runId: RunId;
  /** The run that wrote the first row. Default: the run itself. */
  readonly originRunId?: RunId;
  readonly workflow: Workflow;
}

/** Keeps one page at a time. `pages` decides how large a page is, and may yield to other work between two. */
export async function redecide(
  { runId, originRunId = runId, workflow }: RecordedRun,
  pages: AsyncIterable<readonly RecordedRow[]> | Iterable<readonly RecordedRow[]>,
): Promise<Redecided> {
  const state = newRunState(runId, originRunId);
  const walk = new Redecision({ state, workflow }, (event) => evolve(state, workflow, event));
  for await (const page of pages) {
    for (const row of page) {
      const divergence = taken(walk, row);
      if (divergence !== null) return { events: state.nextSeq, divergence, state };
    }
  }
  return { events: state.nextSeq, divergence: state.ended ? walk.end() : null, state };
}

/** A record that was written by hand may name nodes that the workflow lacks, which the state then cannot be folded from. */
function taken(walk: Redecision, row: RecordedRow): Divergence | null {
  try {
    return walk.take(row);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { seq: row.seq, kind: 'missing', recorded: row, present: null, error: why };
  }
}
