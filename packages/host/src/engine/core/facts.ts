/** Facts: what happened outside a run and is recorded at its end, guarded by meaning instead of position. */
import { type EventType, isCairnError, type RunId, row } from '@cairn/protocol';
import type { IdempotencyWrite } from '../../log/ports/idempotency.ts';
import type { Emission } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { drivenResult, isAwaited } from './driven.ts';
import type { Draft, RunState, StepResult, Timer } from './state.ts';
import { stepReturned } from './step-rows.ts';

/** `propose` is asked again whenever another node wrote first. */
export interface Fact {
  /** The rows that record it, or none when it is recorded already. Throws to refuse. */
  propose(state: RunState, now: number, workflow: Workflow): readonly Draft[];
  /** What is proposed where those rows cannot be made or do not fit: somebody waits for what is known of it. Throws a defect again. */
  instead?(error: unknown): Fact['propose'];
  /** The idempotency record of the request that sent it, for the append that leads to this state. */
  idempotencyRecord?(state: RunState): IdempotencyWrite;
  /** Called once its rows, and what was decided on them, are durable. */
  recorded(state: RunState): void;
  refused(error: unknown): void;
  /** A result or a timer: nobody waits for an answer, so the mailbox itself tries again when the store is in trouble. */
  readonly internal: boolean;
}

/** A fact somebody waits for; the promise gives what `look` makes of the state once it is durable. */
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
  // Found in the log after a lost answer, the state may be further on than what was recorded with the fact.
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

/** A call's result counts only for the attempt the run waits for. */
export function callReturned(callId: string, attempt: number, result: StepResult): Fact {
  const proposed =
    (came: StepResult): Fact['propose'] =>
    (state, now, workflow) => {
      const driven = drivenResult(state, workflow, { callId, attempt, result: came, now });
      if (driven !== null) return driven;
      const open = state.calls[callId];
      // Once a human was asked what became of it, the answer is theirs: a result that turns up meanwhile is too late.
      return isAwaited(state, open, attempt) ? [stepReturned(open, came, open.requestedSeq)] : [];
    };
  return {
    internal: true,
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

/** Why a run is to be cancelled, and by whom: a caller, or the run above it that has ended. */
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

/** Rows that a call writes while it is under way; dropped once the run no longer waits for it. `ended` is told once they are recorded, or why they were refused. */
export function emitted(
  callId: string,
  attempt: number,
  rows: readonly Emission[],
  ended: (refusal: unknown) => void,
): Fact {
  return {
    internal: true,
    propose(state) {
      const call = state.calls[callId];
      if (!isAwaited(state, call, attempt)) return [];
      const where = { nodeId: call.nodeId, cause: call.requestedSeq };
      // The compiler cannot pair a type with its payload across the list; the writer of each emission did.
      return rows.map(({ type, payload }) => row<EventType>(type, payload, where) as Draft);
    },
    recorded: () => ended(null),
    refused: ended,
  };
}
