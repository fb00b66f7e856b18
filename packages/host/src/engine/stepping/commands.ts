/** Commands as facts: the rows each proposes to a run, and the answer its sender gets once they are recorded. */
import type { Json } from '@cairn/protocol';
import { type AnswerDrafts, answerDrafts } from '../core/answers/answers.ts';
import { isLargeAnswer, withoutLargeParts } from '../core/answers/large-answer.ts';
import { callCanceled } from '../core/control/cancel-call.ts';
import { pauseRequested, resumed } from '../core/control/pause.ts';
import { cancelRequested, type Fact } from '../core/facts.ts';
import type { Draft, RunState } from '../core/state.ts';
import type {
  AnswerInterrupt,
  CancelCall,
  CancelRun,
  IdempotentRequest,
  InterruptAnswered,
  PauseRun,
  ResumeRun,
  RunCancelled,
  RunPaused,
  RunResumed,
} from '../engine.ts';
import { sealedRow } from '../sensitive/references.ts';
import type { SealPorts } from '../sensitive/seal-inputs.ts';
import { sealVerdict } from '../sensitive/seal-verdict.ts';

/** A fact sent by a caller. The runtime redacts the sender's texts before it creates the command. */
export interface Command<Answer> {
  readonly propose: Fact['propose'];
  /** Returns the sender's answer from the state that includes the fact. */
  readonly look: (state: RunState) => Answer;
  readonly idempotency: IdempotentRequest<Answer> | undefined;
  /** Returns the interrupt that the fact answers; known after `propose`. */
  readonly answers?: () => string;
  /**
   * The fact is valid only for the state it was proposed for, so it is appended at a fixed position, like a decision.
   */
  readonly isPositioned?: boolean;
}

/** `valueFor` gives the value of the answer without the sensitive values of the run; `sealing` seals those it brings. */
export function answerCommand(
  request: AnswerInterrupt,
  valueFor: (state: RunState) => Json,
  sealing: SealPorts,
): Command<InterruptAnswered> {
  let interruptId = '';
  let nodeId = '';
  return {
    propose(state, now, workflow) {
      const value = valueFor(state);
      const answer = answerDrafts({ state, workflow }, { ...request, value }, now);
      interruptId = answer.interruptId;
      nodeId = answer.nodeId;
      const hidden = sealVerdict(sealing, { state, workflow, tenant: request.tenant, interruptId }, value);
      if (hidden === null) return recordable(answer, { state, value, sealing });
      const sealed = answerDrafts({ state, workflow }, { ...request, value: hidden.value }, now);
      return [sealedRow(hidden.sealed), ...recordable(sealed, { state, value: hidden.value, sealing })];
    },
    look: ({ view }) => ({ nodeId, status: view.status }),
    idempotency: request.idempotency,
    answers: () => interruptId,
  };
}

interface Answered {
  readonly state: RunState;
  readonly value: Json;
  readonly sealing: SealPorts;
}

/** A reference may stand in the answers to these questions. Those of others have texts, such as the feedback to an approval. */
const takesAnyJson: ReadonlySet<string> = new Set(['clarification', 'external-event', 'custom']);

/** Artifacts hold what does not fit in the events of an answer. */
function recordable(answer: AnswerDrafts, { state, value, sealing }: Answered): readonly Draft[] {
  const { interruptId, nodeId, drafts } = answer;
  const question = state.view.interrupts[interruptId];
  if (question === undefined || !takesAnyJson.has(question.kind) || !isLargeAnswer(value)) return drafts;
  return withoutLargeParts(drafts, { interruptId, nodeId, seq: question.seq, nextSeq: state.nextSeq }, sealing.sha256);
}

export const cancelCommand = ({ reason, principal, idempotency }: CancelRun): Command<RunCancelled> => ({
  propose: (state) => cancelRequested(state, { reason, by: principal }),
  look: ({ view }) => ({ status: view.status }),
  idempotency,
});

/** `hasStopped`: the call was in progress here, and ended on account of this request. */
export const cancelCallCommand = (request: CancelCall, hasStopped: boolean): Command<RunCancelled> => ({
  propose(state, now, workflow) {
    const { callId, reason, principal } = request;
    if (hasStopped && state.calls.get(callId) === undefined) return [];
    return callCanceled({ state, workflow }, callId, { reason, by: principal, at: now });
  },
  look: ({ view }) => ({ status: view.status }),
  idempotency: request.idempotency,
});

export const pauseCommand = (request: PauseRun): Command<RunPaused> => ({
  propose: (state) => pauseRequested(state, request),
  look: ({ pause }) => ({ pausedAt: pause?.pausedAt ?? null }),
  idempotency: request.idempotency,
  isPositioned: true,
});

export function resumeCommand(request: ResumeRun): Command<RunResumed> {
  let resumedAt = 0;
  return {
    propose(state, now) {
      resumedAt = now;
      return resumed(state, request);
    },
    look: () => ({ resumedAt }),
    idempotency: request.idempotency,
    isPositioned: true,
  };
}

/** Tells a run something about a relative. Valid only for the state it was proposed for. */
export const noticeCommand = (propose: Command<object>['propose']): Command<object> => ({
  propose,
  look: () => ({}),
  idempotency: undefined,
  isPositioned: true,
});
