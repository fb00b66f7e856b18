/** Finds the checkpoint that the state of a run at a row is folded from. A fork begins with those of its source. */
import type { RunId } from '@cairn/protocol';
import type { Checkpoint } from '../../log/ports/checkpoints.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { memoryScopeOf } from '../family/memory-scope.ts';
import { stateFrom } from './state-text.ts';

/**
 * Bump when RunState or RunView changes shape: older checkpoints are then ignored and the log is folded from the start.
 */
export const STATE_FORMAT = 'run-state/15';

/** The newest usable checkpoint at or before a row; null when the run is folded from its start. */
export async function nearestState(
  { log, checkpoints }: Pick<Store, 'log' | 'checkpoints'>,
  record: RunRecord,
  atMost: number,
): Promise<Checkpoint | null> {
  let limit = atMost;
  for (let run: RunRecord | null = record; run !== null && limit >= 0; ) {
    const found = await checkpoints.get(run.runId, limit);
    if (found !== null && found.format === STATE_FORMAT) return found;
    if (run.fork === null) return null;
    limit = Math.min(limit, run.fork.fromSeq - 1);
    run = (await log.head(run.fork.sourceRunId))?.record ?? null;
  }
  return null;
}

/** The state of a checkpoint as the run has it. */
export const stateOf = (runId: RunId, body: string): RunState => stateAs(runId, stateFrom(body));

/** The state as that of another run: the state of a fork's source names the source. */
export function stateAs(runId: RunId, state: RunState): RunState {
  if (state.runId === runId) return state;
  const memoryScope = memoryScopeOf({ runId, originRunId: state.runId }, state.memoryScope);
  return { ...state, runId, view: { ...state.view, runId }, memoryScope };
}
