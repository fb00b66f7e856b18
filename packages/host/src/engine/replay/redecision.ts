/**
 * Decides a recorded run again with the present code, one row at a time. Facts are taken over from the record; decisions
 * are made again and compared with it. Stops at the first row that differs.
 */
import { type FoldEvent, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { recover } from '../core/control/recover.ts';
import { decide } from '../core/decide.ts';
import type { Draft, RunError, RunState } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { isCanceled, isFact, type TakenFact, takenFact } from './recorded-facts.ts';
import { agreed, type Divergence, isSameEvent, payloadOf, type RecordedRow, recordedEvent } from './recorded-row.ts';

/** Folds an event into the state. The row of the record has the same contents as text. */
export type Fold = (event: FoldEvent, row: RecordedRow) => void;

/** What the present code decides in a state, or why it cannot. */
interface Present {
  readonly drafts: readonly Draft[];
  readonly error?: string;
}

/** A new holder of the run took over its open calls. The rows about several calls are one decision, made at one time. */
interface Takeover {
  readonly at: number;
  /** The calls that it has handled so far. It handles each once, so another row about one is of the holder after it. */
  readonly callIds: Set<string>;
}

/** What a walk knows besides the state: the decision or the fact whose rows it is in the middle of. */
export interface UnderWay {
  /** The rows of the decision that are still to come. */
  readonly due: readonly Draft[];
  readonly last: TakenFact | null;
  readonly takeover: Takeover | null;
  readonly isFailedByHost: boolean;
}

export const nothingUnderWay: UnderWay = { due: [], last: null, takeover: null, isFailedByHost: false };

export class Redecision {
  readonly #state: RunState;
  readonly #workflow: Workflow;
  readonly #fold: Fold;
  /** The rows of the current decision that the record has not shown yet. */
  #due: readonly Draft[] = [];
  #shown = 0;
  #last: TakenFact | null = null;
  /** Set while rows of its decision may follow. */
  #takeover: Takeover | null = null;
  /** The host failed the run for a reason that is in no row, such as its size. */
  #isFailedByHost = false;
  #cost = 0;

  /**
   * The state must be at the end of a decision, as it is at the start of a run and after an append. At any other row, it
   * needs what is under way there.
   */
  constructor(
    run: { readonly state: RunState; readonly workflow: Workflow },
    fold: Fold,
    underWay: UnderWay = nothingUnderWay,
  ) {
    this.#state = run.state;
    this.#workflow = run.workflow;
    this.#fold = fold;
    this.#due = underWay.due;
    this.#last = underWay.last;
    this.#takeover = underWay.takeover;
    this.#isFailedByHost = underWay.isFailedByHost;
  }

  /** What the expressions of all decisions so far have cost. */
  get cost(): number {
    return this.#cost;
  }

  get underWay(): UnderWay {
    const [due, last] = [this.due, this.#last];
    return { due, last, takeover: this.#takeover, isFailedByHost: this.#isFailedByHost };
  }

  /** The rest of the decision whose first rows have been taken. */
  get due(): readonly Draft[] {
    return this.#shown === 0 ? this.#due : this.#due.slice(this.#shown);
  }

  /** Takes the next row of the record. Returns null, or the divergence; the row is then not folded. */
  take(row: RecordedRow): Divergence | null {
    if (row.type === 'cairn.run.forked') this.#leaveDecision();
    const due = this.#due[this.#shown];
    if (due !== undefined) return this.#takeDue(due, row);
    let parsed: JsonObject | undefined;
    const payload = (): JsonObject => {
      parsed ??= payloadOf(row);
      return parsed;
    };
    if (isFact(this.#state, row, payload, this.#last)) {
      // A node that is stopped closes its calls as a person does. Then the rows that follow are of the same decision.
      if (isCanceled(row, payload) && this.#begins(this.#decide().drafts, row)) return null;
      return this.#takeFact(row, payload());
    }
    const present = this.#decide();
    if (this.#begins(present.drafts, row)) {
      this.#takeover = null;
      return null;
    }
    if (this.#isTakenOver(row) || this.#isFailedByTheHost(row, payload)) return null;
    if (isQuarantine(row, payload)) return this.#takeFact(row, payload());
    return divergence(row, present);
  }

  /** Call it after the last row of the record of an ended run. */
  end(): Divergence | null {
    const [present = null] = this.due;
    const { nextSeq } = this.#state;
    return present === null ? null : { seq: nextSeq, kind: 'extra', recorded: null, present };
  }

  /** A branch that is cut in a decision that ends the run decides again how it ends. */
  #leaveDecision(): void {
    this.#due = [];
    this.#shown = 0;
  }

  #takeDue(due: Draft, row: RecordedRow): Divergence | null {
    const same = agreed(due, row);
    if (same !== null) return this.#takeDraft(same, row);
    if (!this.#isFailedByHost || due.type !== 'run.failed' || row.type !== due.type)
      return divergence(row, { drafts: [due] });
    // Only this row says why the host failed the run.
    const { error } = payloadOf(row);
    const named = isRunError(error) ? agreed({ ...due, payload: { ...due.payload, error } }, row) : null;
    return named === null ? divergence(row, { drafts: [due] }) : this.#takeDraft(named, row);
  }

  /** Takes the row if a decision of these drafts begins with it. */
  #begins(drafts: readonly Draft[], row: RecordedRow): boolean {
    const [first] = drafts;
    const event = first === undefined ? null : agreed(first, row);
    if (event === null) return false;
    this.#due = drafts;
    this.#shown = 0;
    this.#takeDraft(event, row);
    return true;
  }

  #takeDraft(event: FoldEvent, row: RecordedRow): null {
    this.#shown += 1;
    this.#last = null;
    if (this.#shown === this.#due.length) {
      this.#due = [];
      this.#shown = 0;
    }
    this.#fold(event, row);
    return null;
  }

  #takeFact(row: RecordedRow, payload: JsonObject): null {
    this.#takeover = null;
    const taken = takenFact(row, payload);
    if (taken !== null) this.#last = taken;
    this.#fold(recordedEvent(row, payload), row);
    return null;
  }

  #decide(): Present {
    try {
      const decision = decide(this.#state, this.#workflow);
      this.#cost += decision.cost ?? 0;
      return decision;
    } catch (error) {
      return { drafts: [], error: error instanceof Error ? error.message : String(error) };
    }
  }

  /**
   * A new holder asked again for a call of its predecessor, or asked a human about it. The record does not say which calls
   * were in progress elsewhere, so each one is tried by itself.
   */
  #isTakenOver(row: RecordedRow): boolean {
    const state = this.#state;
    const { now, calls } = state;
    for (const [callId, call] of calls) {
      // A question to an agent above is asked on no node.
      const nodeId = call.routes === undefined ? call.nodeId : null;
      if (nodeId !== row.nodeId || call.asked !== undefined) continue;
      const takeover = this.#takeoverOf(callId);
      state.now = takeover.at;
      const { drafts } = recover(state, this.#workflow, (other) => other !== callId);
      state.now = now;
      if (!this.#begins(drafts, row)) continue;
      takeover.callIds.add(callId);
      this.#takeover = takeover;
      return true;
    }
    return false;
  }

  /** The takeover that may have handled the call, which is the last one unless that has handled it before. */
  #takeoverOf(callId: string): Takeover {
    const last = this.#takeover;
    return last === null || last.callIds.has(callId) ? { at: this.#state.now, callIds: new Set() } : last;
  }

  /** The host failed the run: it was too large, its tenant had no space left, or a decision could not be made. */
  #isFailedByTheHost(row: RecordedRow, payload: () => JsonObject): boolean {
    const state = this.#state;
    const isOpen = state.failure === null || this.#isFailedByHost;
    if (!isOpen || state.cancel !== null || state.ended || typeof row.cause !== 'number') return false;
    const before = state.failure;
    const error = row.type === 'run.failed' ? payload().error : null;
    state.failure = { seq: row.cause, nodeId: null, error: isRunError(error) ? error : UNKNOWN };
    if (this.#begins(this.#decide().drafts, row)) {
      this.#isFailedByHost = true;
      return true;
    }
    state.failure = before;
    return false;
  }
}

/** Stands for the error until the row that ends the run names it. */
const UNKNOWN: RunError = { code: 'internal_error', message: 'The host failed the run.', retryable: false };

const isRunError = (value: Json | undefined): value is RunError =>
  isJsonObject(value) && typeof value.code === 'string' && typeof value.message === 'string';

/** A quarantined run is failed without being loaded, so its last row follows from nothing. */
function isQuarantine(row: RecordedRow, payload: () => JsonObject): boolean {
  if (row.type !== 'run.failed' || row.cause !== null) return false;
  const { error } = payload();
  return isJsonObject(error) && error.code === 'run_quarantined';
}

function divergence(recorded: RecordedRow, { drafts, error }: Present): Divergence {
  const [present = null] = drafts;
  const kind = present === null ? 'missing' : isSameEvent(present, recorded) ? 'output' : 'type-mismatch';
  return { seq: recorded.seq, kind, recorded, present, ...(error === undefined ? {} : { error }) };
}
