/** Records a fact for a run that another node steps: past any mailbox, guarded by meaning, with a wake for its holder. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { Settlement } from '../../log/ports/idempotency.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Fact } from '../core/facts.ts';
import { stamp } from '../core/stamp.ts';
import type { RunState } from '../core/state.ts';
import type { RunLoader } from './run-loader.ts';

export interface OutsideFact<Answer> {
  readonly store: Store;
  readonly loader: RunLoader;
  readonly now: number;
  readonly runId: RunId;
  readonly propose: Fact['propose'];
  /** What the sender is told, of the state with the fact in it. */
  readonly look: (state: RunState) => Answer;
  /** What is recorded of the request that sent it. */
  readonly settled: ((answer: Answer) => Settlement) | undefined;
  /** The interrupt the fact answers, known once it was proposed. */
  readonly answers: (() => string) | undefined;
  /** The fact is only true of the state it was proposed for, so it is written at a position, as a decision is. */
  readonly isPositioned: boolean;
}

/** Votes of several at once are counted one after the other; this many lost races in a row are given up. */
const MAX_RACES = 8;

/** What the fact leads to as far as it is known here; what follows from it is the holder's to decide. */
export async function appendOutside<Answer>(outside: OutsideFact<Answer>): Promise<Answer> {
  let hasEnded = false;
  for (let races = 0; ; races++) {
    try {
      return await tryOutside(outside);
    } catch (error) {
      const isOver = isCairnError(error, 'run_terminal');
      const isLost = isCairnError(error, 'conflict') && error.retryable;
      // A run that ended meanwhile is looked at once more: what that means for the fact is the fact's to say.
      if (!(isLost || (isOver && !hasEnded)) || races === MAX_RACES) throw error;
      hasEnded = isOver;
    }
  }
}

async function tryOutside<Answer>({ store, loader, runId, ...outside }: OutsideFact<Answer>): Promise<Answer> {
  const { state, workflow } = await loader.load(runId);
  const base = state.nextSeq;
  const now = Math.max(outside.now, state.now);
  const drafts = outside.propose(state, now);
  if (drafts.length === 0) return outside.look(state);
  const rows = stamp(state, workflow, drafts, now);
  const answers = outside.answers?.();
  // A vote that leaves its gate open depends on the votes before it.
  const isVote = answers !== undefined && Object.hasOwn(state.view.interrupts, answers);
  const position = isVote || outside.isPositioned ? { at: base } : {};
  const answer = outside.look(state);
  const outcomes = outside.settled && [outside.settled(answer)];
  await store.log.append({ runId, rows, answers, outcomes, wakes: [{ runId, at: now }], ...position });
  return answer;
}
