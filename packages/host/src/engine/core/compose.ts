/** Composes one append for a run: posted facts, due timers, and the decisions that follow from them. */
import { isCairnError, isTerminalType } from '@cairn/protocol';
import type { Append } from '../../log/ports/event-log.ts';
import { bodySize, type NewRow } from '../../log/ports/rows.ts';
import { hasChildren } from '../family/relatives.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { nextFact } from './control/pause.ts';
import { recover } from './control/recover.ts';
import { decide } from './decide.ts';
import { type Fact, timerFired } from './facts.ts';
import { refuseLargeFact, type SizeLimits, sizeFailure } from './run-size.ts';
import { stamp } from './stamp.ts';
import type { Decision, Draft, Effect, RunState } from './state.ts';
import { dueTimers, nextTimer } from './timers.ts';

export interface Batch {
  /** seq of the first row. */
  readonly base: number;
  readonly rows: readonly NewRow[];
  /** The facts that this batch records, or that the log already holds. */
  readonly facts: readonly Fact[];
  /** The facts that did not fit, for the next batch. */
  readonly left: readonly Fact[];
  /** The idempotency records of the requests that sent the facts. */
  readonly idempotency: Append['idempotency'];
  readonly effects: readonly Effect[];
  /** The batch was full before it handled the open calls of the previous holder. */
  readonly takeOverLater: boolean;
  /** No further decision is possible until a new fact arrives. */
  readonly isWhole: boolean;
  /** The run fails or is cancelled: its rows may pass the tenant's quota, so that it can end. */
  readonly isEnding: boolean;
  /** Set if the run waits for nothing in this process, so that the lease can be released. */
  readonly rest: { readonly wakeAt: number | null } | undefined;
}

export interface Moment {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly facts: readonly Fact[];
  readonly now: number;
  /** Most rows of the append: enough to share a commit, few enough to yield the event loop to other runs. */
  readonly maxRows: number;
  readonly limits: SizeLimits;
  /** The lease is new: open calls belong to a previous holder and are handled first. */
  readonly takenOver: boolean;
  /**
   * The mailbox has checked, under this lease, whether the parent run still needs this run. Until then it keeps the
   * lease.
   */
  readonly hasCheckedRelatives: boolean;
  /**
   * Returns true if the run keeps its lease after these rows and waits in memory until this time. Called only if it could
   * rest.
   */
  readonly waitsHere: (until: number, rows: readonly NewRow[]) => boolean;
  /** Returns true if the call's current attempt is in progress in this process. */
  readonly underWay: (callId: string) => boolean;
  /** Reports a decision that could not be made or written. The run fails with the error; the host continues. */
  readonly broken: (error: unknown) => void;
}

/** Maximum cost of the expressions in one append, in their units: about 5 ms. The last decision may exceed it. */
export const MAX_COST = 250_000;

/**
 * Maximum size of the rows in one append, in characters: rendering, hashing and writing them takes about 2 ms. The last
 * fact or decision may exceed it, and often does: 200 kB in a variable are 400 kB of rows, which take 5 ms.
 */
export const MAX_BYTES = 131_072;

/** Folds each row into the state, so the state is ahead of the log until the batch is durable. */
export function compose(moment: Moment): Batch {
  const { state, workflow, maxRows } = moment;
  // Time in a run's log never goes backwards, even if the clock does.
  const now = Math.max(moment.now, state.now);
  const base = state.nextSeq;
  const rows: NewRow[] = [];
  const effects: Effect[] = [];
  let bytes = 0;
  const write = (drafts: readonly Draft[]) => {
    for (const row of stamp(state, workflow, drafts, now)) {
      rows.push(row);
      bytes += bodySize(row);
    }
  };
  const broken = (error: unknown) => {
    moment.broken(error);
    state.failure ??= { seq: state.nextSeq - 1, nodeId: null, error: failureOf(error) };
  };
  const { limits } = moment;
  const facts: Fact[] = [];
  let taken = 0;
  for (const fact of moment.facts) {
    if (bytes >= MAX_BYTES) break;
    taken += 1;
    if (accept(fact, { state, now, workflow, limits, write, broken })) facts.push(fact);
  }
  const due = state.ended || state.nextSeq === 0 ? [] : dueTimers(state, now);
  if (due.length > 0) write(due.map(timerFired));
  let takeOver = moment.takenOver;
  // A call requested by this batch needs no second request.
  const seenTo = (callId: string) => moment.underWay(callId) || effects.some((effect) => effect.callId === callId);
  let cost = 0;
  const isFull = () => rows.length >= maxRows || cost >= MAX_COST || bytes >= MAX_BYTES;
  // Facts may have filled the batch. One decision follows all the same: a call that streams must not hold up a cancel.
  for (let isFirst = true; isFirst || !isFull(); isFirst = false) {
    try {
      failWhenTooLarge(state, limits);
      // Pending facts come before open calls: a node that has timed out gets no new attempt.
      const recovers = takeOver && nextFact(state) === undefined;
      const decision: Decision = recovers ? recover(state, workflow, seenTo) : decide(state, workflow);
      if (recovers) takeOver = false;
      else if (decision.drafts.length === 0) break;
      write(decision.drafts);
      effects.push(...decision.effects);
      cost += decision.cost ?? 0;
    } catch (error) {
      if (state.failure !== null) throw error;
      broken(error);
    }
  }
  const isWhole = !isFull();
  const mayRest = moment.hasCheckedRelatives || state.attachedTo === null;
  const quiet = mayRest && isWhole && !awaitsEffects(state) && !state.ended && !hasChildren(state);
  return {
    base,
    rows,
    facts,
    left: moment.facts.slice(taken),
    idempotency: rows.length === 0 ? undefined : recordsOf(facts, state),
    effects,
    takeOverLater: takeOver,
    isWhole,
    isEnding: state.failure !== null || state.cancel !== null,
    rest: quiet ? restOf(moment, rows) : undefined,
  };
}

/** Checked after each decision, because one decision writes a bounded number of bounded rows. */
function failWhenTooLarge(state: RunState, limits: SizeLimits): void {
  if (state.failure !== null || state.cancel !== null || state.ended) return;
  const error = sizeFailure(state, limits);
  if (error !== null) state.failure = { seq: state.nextSeq - 1, nodeId: null, error };
}

function restOf({ state, waitsHere }: Moment, rows: readonly NewRow[]): Batch['rest'] {
  const wakeAt = nextTimer(state);
  return wakeAt !== null && waitsHere(wakeAt, rows) ? undefined : { wakeAt };
}

const failureOf = (error: unknown) => ({
  code: isCairnError(error) ? error.code : 'internal_error',
  message: error instanceof Error ? error.message : String(error),
});

function recordsOf(facts: readonly Fact[], state: RunState): Append['idempotency'] {
  const requests = facts.filter(({ idempotencyRecord }) => idempotencyRecord !== undefined);
  return requests.length === 0 ? undefined : requests.flatMap((fact) => fact.idempotencyRecord?.(state) ?? []);
}

interface Acceptance {
  readonly state: RunState;
  readonly now: number;
  readonly workflow: Workflow;
  readonly limits: SizeLimits;
  readonly write: (drafts: readonly Draft[]) => void;
  readonly broken: (error: unknown) => void;
}

function accept(fact: Fact, { state, now, workflow, limits, write, broken }: Acceptance): boolean {
  try {
    const drafts = fact.propose(state, now, workflow);
    if (!fact.internal) refuseLargeFact(state, drafts, limits);
    write(drafts);
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

/** Returns true if this host has to perform an open call. Calls under human review do not count. */
export const awaitsEffects = (state: RunState): boolean => state.awaitedCalls > 0;

/** Returns true if the last row of the batch ends the run. */
export const endsRun = (batch: Batch): boolean => isTerminalType(batch.rows.at(-1)?.type ?? '');
