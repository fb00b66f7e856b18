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
      const divergence = walk.take(row);
      if (divergence !== null) return { events: state.nextSeq, divergence, state };
    }
  }
  return { events: state.nextSeq, divergence: state.ended ? walk.end() : null, state };
}
