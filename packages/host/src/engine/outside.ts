/** Records a fact for a run that another node steps: past any mailbox, guarded by meaning, with a wake for its holder. */
import { isCairnError, type RunId, type RunStatus } from '@cairn/protocol';
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

/** Votes of several at once are counted one after the other; this many lost races in a row are given up. */
const MAX_RACES = 8;

/** Gives the status the fact leads to as far as it is known here; what follows from it is the holder's to decide. */
export async function appendOutside(outside: OutsideFact): Promise<RunStatus> {
  for (let races = 0; ; races++) {
    try {
      return await tryOutside(outside);
    } catch (error) {
      if (!isCairnError(error, 'conflict') || races === MAX_RACES) throw error;
    }
  }
}

async function tryOutside({ store, loader, runId, ...outside }: OutsideFact): Promise<RunStatus> {
  const { state, workflow } = await loader.load(runId);
  const base = state.nextSeq;
  const now = Math.max(outside.now, state.now);
  const drafts = outside.propose(state, now);
  if (drafts.length === 0) return state.view.status;
  const rows = stamp(state, workflow, drafts, now);
  const answers = outside.answers?.();
  // A vote that leaves its gate open depends on the votes before it, so it is written at a position, as a decision is.
  const isVote = answers !== undefined && Object.hasOwn(state.view.interrupts, answers);
  const position = isVote ? { at: base } : {};
  await store.log.append({ runId, rows, answers, wakes: [{ runId, at: now }], ...position });
  return state.view.status;
}
