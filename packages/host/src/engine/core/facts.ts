/** Facts: external events appended to a run. Each fact checks the current state instead of a log position. */
import { type EventType, isCairnError, isCallResult, type RunId, row } from '@cairn/protocol';
import type { IdempotencyWrite } from '../../log/ports/idempotency.ts';
import type { Emission } from '../ports.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { drivenResult, isAwaited } from './driven.ts';
import type { Draft, RunError, RunState, StepResult, Timer } from './state.ts';
import { stepReturned } from './step-rows.ts';

/** The mailbox calls `propose` again whenever another node wrote first. */
export interface Fact {
  /** Returns the rows that record the fact, or none if it is already recorded. Throws to refuse it. */
  propose(state: RunState, now: number, workflow: Workflow): readonly Draft[];
  /**
   * Returns a fallback proposal if the rows cannot be made or do not fit, because the run waits for a result. Rethrows
   * defects.
   */
  instead?(error: unknown): Fact['propose'];
  /** Returns the idempotency record of the request, written in the append that leads to this state. */
  idempotencyRecord?(state: RunState): IdempotencyWrite;
  /** Called once the fact's rows and the decisions that follow from them are durable. */
  recorded(state: RunState): void;
  refused(error: unknown): void;
  /**
   * True for facts of the engine itself, such as call results. No caller waits, so the mailbox retries after a store
   * error.
   */
  readonly internal: boolean;
  /** True for rows that a call emits. The store may refuse them alone: then the call fails, and the run goes on. */
  readonly isEmission?: boolean;
  /** Names what the fact is about, the same after a restart. Default: a command. */
  readonly subject?: string | undefined;
}

/** Creates a fact with a promise. The promise resolves to the result of `look` on the durable state. */
export function awaited<Answer extends object>(
  propose: Fact['propose'],
  look: (state: RunState) => Answer,
  recordFor?: (answer: Answer) => IdempotencyWrite,
): { readonly fact: Fact; readonly done: Promise<Answer> } {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const plain = { internal: false, refused: reject };
  if (recordFor === undefined) {
    return { fact: { ...plain, propose, recorded: (state) => resolve(look(state)) }, done: promise };
  }
  // If the append's response was lost and the log shows it, the state may be newer than the recorded answer.
  let recordedAnswer: Answer | null = null;
  const fact: Fact = {
    ...plain,
    propose: (state, now, workflow) => {
      recordedAnswer = null;
      return propose(state, now, workflow);
    },
    idempotencyRecord: (state) => {
      recordedAnswer = look(state);
      return recordFor(recordedAnswer);
    },
    recorded: (state) => resolve(recordedAnswer ?? look(state)),
  };
  return { fact, done: promise };
}

/** A row of a source run whose recorded result a branch takes again. */
export interface ReusedFrom {
  readonly runId: RunId;
  readonly seq: number;
}

/** Records a call's result, only for the attempt the run waits for. A reused result names the row that it comes from. */
export function callReturned(callId: string, attempt: number, result: CallResult, reusedFrom?: ReusedFrom): Fact {
  const proposed =
    (came: CallResult): Fact['propose'] =>
    (state, now, workflow) => {
      const driven = drivenResult(state, workflow, { callId, attempt, result: came, now });
      if (driven !== null) return marked(driven, reusedFrom);
      const open = state.calls.get(callId);
      // Once a human is asked about the call, their verdict decides; a result that arrives later is ignored.
      if (!isAwaited(state, open, attempt)) return [];
      const ended: StepResult = 'given' in came ? { outcome: came.given } : came;
      return marked([stepReturned(open, ended, open.requestedSeq)], reusedFrom);
    };
  return {
    internal: true,
    subject: callId,
    propose: proposed(result),
    instead(error) {
      if (!isCairnError(error) || error.code === 'internal_error') throw error;
      const { code, message } = error;
      return proposed({ error: { code, message, retryable: false } });
    },
    recorded: () => undefined,
    refused: () => undefined,
  };
}

const marked = (drafts: readonly Draft[], reusedFrom: ReusedFrom | undefined): readonly Draft[] =>
  reusedFrom === undefined
    ? drafts
    : drafts.map((draft) =>
        isCallResult(draft.type) ? ({ ...draft, payload: { ...draft.payload, reusedFrom } } as Draft) : draft,
      );

/** Fails the run, because the store refuses its rows. The decision that follows writes the rows that end it. */
export const mustFail = (error: RunError): Fact => ({
  internal: true,
  propose(state) {
    state.failure ??= { seq: state.nextSeq - 1, nodeId: null, error };
    return [];
  },
  recorded: () => undefined,
  refused: () => undefined,
});

/** Why a run is cancelled, and by whom: a caller, or the parent run that has ended. */
export interface CancelReason {
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly parentRunId?: RunId | undefined;
}

export function cancelRequested(state: RunState, { reason, by, parentRunId }: CancelReason): readonly Draft[] {
  if (state.ended || state.cancel !== null) return [];
  const payload = {
    ...(parentRunId === undefined ? {} : { parentRunId }),
    ...(reason === undefined ? {} : { reason }),
    ...(by === undefined ? {} : { requestedBy: by }),
  };
  return [row('cairn.cancel.requested', payload)];
}

export function timerFired(timer: Timer): Draft {
  const { timerId, purpose, nodeId, setSeq: cause } = timer;
  const payload = { timerId, purpose, ...(nodeId === undefined ? {} : { nodeId }) };
  return row('cairn.timer.fired', payload, { nodeId, cause });
}

/**
 * Records rows that a call emits while in progress. Drops them if the run no longer waits for the call. `ended`
 * receives null once they are recorded, or the reason for refusal.
 */
export function emitted(
  callId: string,
  attempt: number,
  rows: readonly Emission[],
  ended: (refusal: unknown) => void,
): Fact {
  return {
    internal: true,
    isEmission: true,
    subject: `${callId}+`,
    propose(state) {
      const call = state.calls.get(callId);
      if (!isAwaited(state, call, attempt)) return [];
      const where = { nodeId: call.nodeId, cause: call.requestedSeq };
      // The compiler cannot pair a type with its payload across the list; the emitter of each row did.
      return rows.map(({ type, payload }) => row<EventType>(type, payload, where) as Draft);
    },
    recorded: () => ended(null),
    refused: ended,
  };
}

/** A command goes before what calls emit, which may be thousands of rows. */
export function placeOfCommand(facts: readonly Fact[]): number {
  const first = facts.findIndex(({ isEmission }) => isEmission === true);
  return first === -1 ? facts.length : first;
}
