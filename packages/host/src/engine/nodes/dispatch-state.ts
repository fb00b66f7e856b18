/** The state of a dispatch node and its workers: plain JSON, derived from the node's rows. */
import { type FoldEvent, isJsonObject, type Json, type JsonObject, type PayloadOf, type RunId } from '@cairn/protocol';
import type { ChildEnd, RunError } from '../core/state.ts';
import { type Conversing, evolveConversation } from './conversation-state.ts';

export interface Worker {
  readonly workerId: string;
  /** seq of its `dispatch.began`. */
  readonly beganSeq: number;
  childRunId: RunId | null;
  callId: string | null;
  /** seq of its `dispatch.succeeded`; null until then. */
  startedSeq: number | null;
  failure: RunError | null;
  end: ChildEnd | null;
  /** seq of the chain event that reports its end; null until then. */
  toldSeq: number | null;
}

export interface Dispatch extends Conversing {
  readonly workers: Worker[];
  /** The id of the open interrupt. */
  asked: string | null;
  /** The result of the human review of a decision with low confidence. */
  verdict: { readonly value: Json; readonly timedOut: boolean } | null;
  /** The user's answers to a clarification. */
  answers: JsonObject | null;
}

export const freshDispatch = (): Dispatch => ({
  workers: [],
  asked: null,
  verdict: null,
  answers: null,
  conversation: null,
});

export const hasAsked = ({ verdict, answers, conversation }: Dispatch): boolean =>
  verdict !== null || answers !== null || conversation !== null;

export function evolveDispatch(inner: Dispatch, event: FoldEvent): void {
  evolveConversation(inner, event);
  switch (event.type) {
    case 'core.workflowChain.event':
      chain(inner, event.payload, event.seq);
      break;
    case 'cairn.step.requested': {
      const worker = inner.workers.findLast(({ childRunId }) => childRunId === null);
      if (event.payload.attempt !== 1 || worker === undefined) return;
      worker.childRunId = event.payload.childRunId ?? null;
      worker.callId = event.payload.callId;
      break;
    }
    case 'cairn.step.returned':
      returned(inner, event.payload);
      break;
    case 'interrupt.requested':
      inner.asked = event.payload.interruptId ?? null;
      break;
    case 'interrupt.resolved':
      inner.asked = null;
      answered(inner, event.payload);
      break;
  }
}

function answered(inner: Dispatch, payload: PayloadOf<'interrupt.resolved'>): void {
  const { kind, resumeValue = null, reason } = payload;
  if (kind === 'approval') inner.verdict = { value: resumeValue, timedOut: reason === 'timeout' };
  else if (kind === 'clarification') inner.answers = answersIn(resumeValue);
}

function answersIn(resumeValue: Json): JsonObject {
  const answers = isJsonObject(resumeValue) ? resumeValue.answers : undefined;
  return isJsonObject(answers) ? answers : {};
}

function chain({ workers }: Dispatch, payload: PayloadOf<'core.workflowChain.event'>, seq: number): void {
  if (payload.phase === 'dispatch.began') {
    workers.push({
      workerId: payload.workerId,
      beganSeq: seq,
      childRunId: null,
      callId: null,
      startedSeq: null,
      failure: null,
      end: null,
      toldSeq: null,
    });
    return;
  }
  const worker = workerOfChild(workers, payload.childRunId);
  if (worker === undefined) return;
  if (payload.phase === 'dispatch.succeeded') worker.startedSeq = seq;
  else if (payload.phase.startsWith('child.')) worker.toldSeq = seq;
}

/** Searches from the newest worker: sequential workers mostly match the last one. */
const workerOfChild = (workers: readonly Worker[], childRunId: RunId | undefined): Worker | undefined =>
  childRunId === undefined ? undefined : workers.findLast((one) => one.childRunId === childRunId);

function returned({ workers }: Dispatch, { childRunId, error, outcome }: PayloadOf<'cairn.step.returned'>): void {
  const worker = workerOfChild(workers, childRunId);
  if (worker === undefined) return;
  if (error !== undefined) worker.failure = error;
  else worker.end = outcome as ChildEnd;
}
