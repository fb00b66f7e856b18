/** Commands as facts: what each proposes to a run, and what its sender is told once that is recorded. */
import { answerDrafts } from '../core/answers.ts';
import { cancelRequested, type Fact } from '../core/facts.ts';
import { pauseRequested, resumed } from '../core/pause.ts';
import type { RunState } from '../core/state.ts';
import type {
  AnswerInterrupt,
  CancelRun,
  IdempotentRequest,
  InterruptAnswered,
  PauseRun,
  ResumeRun,
  RunCancelled,
  RunPaused,
  RunResumed,
} from '../engine.ts';

/** A fact that somebody sends. Texts of the sender are redacted before they come here. */
export interface Command<Answer> {
  readonly propose: Fact['propose'];
  /** What the sender is told, of the state with the fact in it. */
  readonly look: (state: RunState) => Answer;
  readonly idempotency: IdempotentRequest<Answer> | undefined;
  /** The interrupt that the fact answers, known once it was proposed. */
  readonly answers?: () => string;
  /** The fact is only true of the state it was proposed for, so it is written at a position, as a decision is. */
  readonly isPositioned?: boolean;
}

export function answerCommand(request: AnswerInterrupt): Command<InterruptAnswered> {
  let interruptId = '';
  let nodeId = '';
  return {
    propose(state, now, workflow) {
      const answer = answerDrafts({ state, workflow }, request, now);
      interruptId = answer.interruptId;
      nodeId = answer.nodeId;
      return answer.drafts;
    },
    look: ({ view }) => ({ nodeId, status: view.status }),
    idempotency: request.idempotency,
    answers: () => interruptId,
  };
}

export const cancelCommand = ({ reason, principal, idempotency }: CancelRun): Command<RunCancelled> => ({
  propose: (state) => cancelRequested(state, { reason, by: principal }),
  look: ({ view }) => ({ status: view.status }),
  idempotency,
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
