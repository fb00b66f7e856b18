/** Everything that can be said of a run at one moment, as one append: posted facts, due timers, and what follows from them. */
import { isCairnError, isTerminalType } from '@cairn/protocol';
import type { Append } from '../../log/ports/event-log.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { hasChildren } from '../family/relatives.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { decide } from './decide.ts';
import { type Fact, timerFired } from './facts.ts';
import { nextFact } from './pause.ts';
import { recover } from './recover.ts';
import { stamp } from './stamp.ts';
import type { Decision, Draft, Effect, RunState } from './state.ts';
import { dueTimers, nextTimer } from './timers.ts';

export interface Batch {
  /** seq of the first row. */
  readonly base: number;
  readonly rows: readonly NewRow[];
  /** The facts that are recorded by it (or were before). */
  readonly facts: readonly Fact[];
  /** What is recorded of the requests that sent them. */
  readonly idempotency: Append['idempotency'];
  readonly effects: readonly Effect[];
  /** The batch was full before the former holder's calls were looked at. */
  readonly takeOverLater: boolean;
  /** Nothing more follows until something happens. */
  readonly isWhole: boolean;
  /** The run waits for nobody in this process: the lease can go back. */
  readonly rest: { readonly wakeAt: number | null } | undefined;
}

export interface Moment {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly facts: readonly Fact[];
  readonly now: number;
  /** The lease is new: open calls are a former holder's and have to be looked at first. */
  readonly takenOver: boolean;
  /** Under this very lease it was looked whether the run above still wants this one; before that the lease stays. */
  readonly hasCheckedRelatives: boolean;
  /** The call's current attempt is under way in this process. */
  readonly underWay: (callId: string) => boolean;
  /** A decision that could not be made or written; the run is failed with it, the host goes on. */
  readonly broken: (error: unknown) => void;
}

/** Rows of one append: enough to share a commit, few enough to let others at the event loop in between. */
const MAX_ROWS = 256;

/** Folds as it goes: the state is ahead of the log until the batch is durable. */
export function compose(moment: Moment): Batch {
  const { state, workflow } = moment;
  // A clock that jumped back must not turn a run's history around.
  const now = Math.max(moment.now, state.now);
  const base = state.nextSeq;
  const rows: NewRow[] = [];
  const effects: Effect[] = [];
  const write = (drafts: readonly Draft[]) => {
    for (const row of stamp(state, workflow, drafts, now)) rows.push(row);
  };
  const broken = (error: unknown) => {
    moment.broken(error);
    const code = isCairnError(error) ? error.code : 'internal_error';
    const message = error instanceof Error ? error.message : String(error);
    state.failure ??= { seq: state.nextSeq - 1, nodeId: null, error: { code, message } };
  };
  const facts = moment.facts.filter((fact) => accept(fact, { state, now, workflow, write, broken }));
  if (!state.ended && state.nextSeq > 0) write(dueTimers(state, now).map(timerFired));
  let takeOver = moment.takenOver;
  // What this very batch asks for needs no second request.
  const seenTo = (callId: string) => moment.underWay(callId) || effects.some((effect) => effect.callId === callId);
  while (rows.length < MAX_ROWS) {
    try {
      // What has happened to a node comes before its open call: one whose time is up is not asked for more.
      const recovers = takeOver && nextFact(state) === undefined;
      const decision: Decision = recovers ? recover(state, workflow, seenTo) : decide(state, workflow);
      if (recovers) takeOver = false;
      else if (decision.drafts.length === 0) break;
      write(decision.drafts);
      effects.push(...decision.effects);
    } catch (error) {
      if (state.failure !== null) throw error;
      broken(error);
    }
  }
  const isWhole = rows.length < MAX_ROWS;
  const mayRest = moment.hasCheckedRelatives || state.attachedTo === null;
  const quiet = mayRest && isWhole && !awaitsEffects(state) && !state.ended && !hasChildren(state);
  return {
    base,
    rows,
    facts,
    idempotency: rows.length === 0 ? undefined : recordsOf(facts, state),
    effects,
    takeOverLater: takeOver,
    isWhole,
    rest: quiet ? { wakeAt: nextTimer(state) } : undefined,
  };
}

function recordsOf(facts: readonly Fact[], state: RunState): Append['idempotency'] {
  const records = facts.flatMap((fact) => fact.idempotencyRecord?.(state) ?? []);
  return records.length === 0 ? undefined : records;
}

interface Acceptance {
  readonly state: RunState;
  readonly now: number;
  readonly workflow: Workflow;
  readonly write: (drafts: readonly Draft[]) => void;
  readonly broken: (error: unknown) => void;
}

function accept(fact: Fact, { state, now, workflow, write, broken }: Acceptance): boolean {
  try {
    write(fact.propose(state, now, workflow));
    return true;
  } catch (error) {
    if (fact.instead === undefined) {
      fact.refused(error);
      return false;
    }
    try {
      write(fact.instead(error)(state, now, workflow));
    } catch (defect) {
      broken(defect);
    }
    return true;
  }
}

/** Whether a call is open that this host has to see to. One about which a human was asked waits for the answer only. */
export const awaitsEffects = (state: RunState): boolean => state.awaitedCalls > 0;

/** Whether the run is over with the last row of the batch. */
export const endsRun = (batch: Batch): boolean => isTerminalType(batch.rows.at(-1)?.type ?? '');
