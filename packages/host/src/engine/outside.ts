/** Records a fact for a run that another node steps: past any mailbox, guarded by meaning, with a wake for its holder. */
import type { RunId, RunStatus } from '@cairn/protocol';
import type { Store } from '../log/port.ts';
import type { Fact } from './facts.ts';
import type { RunLoader } from './run-loader.ts';
import { stamp } from './stamp.ts';

export interface OutsideFact {
  readonly store: Store;
  readonly loader: RunLoader;
  readonly now: number;
  readonly runId: RunId;
  readonly propose: Fact['propose'];
  /** The interrupt the fact answers, known once it was proposed. */
  readonly answers: (() => string) | undefined;
}

/** Gives the status the fact leads to as far as it is known here; what follows from it is the holder's to decide. */
export async function appendOutside(outside: OutsideFact): Promise<RunStatus> {
  const { store, loader, runId } = outside;
  const { state, workflow } = await loader.load(runId);
  const at = Math.max(outside.now, state.now);
  const drafts = outside.propose(state, at);
  if (drafts.length > 0) {
    const rows = stamp(state, workflow, drafts, at);
    await store.log.append({ runId, rows, answers: outside.answers?.(), wakes: [{ runId, at }] });
  }
  return state.view.status;
}
