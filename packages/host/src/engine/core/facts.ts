/** Facts: what happened outside a run and is recorded at its end, guarded by meaning instead of position. */
import { type EventType, isCairnError, type JsonObject, type RunId, row } from '@cairn/protocol';
import type { IdempotencyWrite } from '../../log/ports/idempotency.ts';
import type { Emission } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { drivenResult, isAwaited } from './driven.ts';
import type { Draft, OpenCall, RunState, StepResult, Timer } from './state.ts';

/** `propose` is asked again whenever another node wrote first. */
export interface Fact {
  /** The rows that record it, or none when it is recorded already. Throws to refuse. */
  propose(state: RunState, now: number): readonly Draft[];
  /** What is recorded where those rows cannot be made or do not fit: somebody waits for what is known of it. Throws as a defect. */
  instead?(state: RunState, now: number, error: unknown): readonly Draft[];
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
    propose: (state, now) => {
      recordedAnswer = null;
      return propose(state, now);
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
export function callReturned(workflow: Workflow, call: OpenCall, attempt: number, result: StepResult): Fact {
  const { callId, nodeId } = call;
  const rowsOf = (state: RunState, now: number, came: StepResult): readonly Draft[] => {
    const driven = drivenResult(state, workflow, { callId, attempt, result: came, now });
    if (driven !== null) return driven;
    const open = state.calls[callId];
    // Once a human was asked what became of it, the answer is theirs: a result that turns up meanwhile is too late.
    if (open === undefined || open.attempt !== attempt || open.asked !== undefined || state.ended) return [];
    const payload: JsonObject = { nodeId, callId, attempt, ...(came as JsonObject) };
    return [{ type: 'cairn.step.returned', nodeId, cause: open.requestedSeq, audience: 'operator', payload }];
  };
  return {
    internal: true,
    propose: (state, now) => rowsOf(state, now, result),
    instead(state, now, error) {
      if (!isCairnError(error) || error.code === 'internal_error') throw error;
      const { code, message } = error;
      return rowsOf(state, now, { error: { code, message, retryable: false } });
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
  const payload: JsonObject = {
    ...(parentRunId === undefined ? {} : { parentRunId }),
    ...(reason === undefined ? {} : { reason }),
    ...(by === undefined ? {} : { requestedBy: by }),
  };
  return [{ type: 'cairn.cancel.requested', audience: 'operator', payload }];
}

export function timerFired(timer: Timer): Draft {
  const node = timer.nodeId === undefined ? {} : { nodeId: timer.nodeId };
  return {
    type: 'cairn.timer.fired',
    ...node,
    cause: timer.setSeq,
    audience: 'operator',
    payload: { timerId: timer.timerId, purpose: timer.purpose, ...node },
  };
}

/** Rows that a call writes while it is under way; dropped once the run no longer waits for it. `settled` is told why they were refused. */
export function emitted(
  callId: string,
  attempt: number,
  rows: readonly Emission[],
  settled: (refusal: unknown) => void,
): Fact {
  return {
    internal: true,
    propose(state) {
      const call = state.calls[callId];
      if (!isAwaited(state, call, attempt)) return [];
      const where = { nodeId: call.nodeId, cause: call.requestedSeq };
      return rows.map(({ type, payload }) => row<EventType>(type, payload, where));
    },
    recorded: () => settled(null),
    refused: settled,
  };
}
