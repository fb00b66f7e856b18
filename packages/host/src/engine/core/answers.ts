/** Checks an answer to an interrupt against what was asked, and writes it down; a gate of several counts votes. */
import {
  type ApprovalAction,
  type ClarificationQuestion,
  type InterruptView,
  isoTime,
  type Json,
  type JsonObject,
  jsonEquals,
  parseApprovalAnswer,
  parseClarificationAnswer,
  parseExternalAnswer,
  TerminalError,
} from '@cairn/protocol';
import { compileSchema } from '../values/schemas.ts';
import { conversationDrafts } from './conversation-answers.ts';
import { resolveDrafts } from './interrupts.ts';
import { quorum } from './quorum.ts';
import { refuseProblems } from './refuse-answer.ts';
import type { Draft, RunState } from './state.ts';

export interface AnswerRequest {
  /** The node that waits; or, where no node has this name, the interrupt itself. */
  readonly nodeId?: string | undefined;
  /** The interrupt: an answer sent twice then never meets the next question of the same node. */
  readonly interruptId?: string | undefined;
  readonly value: Json;
  readonly principal?: string | undefined;
}

export interface AnswerDrafts {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly drafts: readonly Draft[];
  /** False when the gate stays open for more votes, or the conversation for more turns. */
  readonly settled: boolean;
}

/** Throws with the code of wire 2.14 when the answer cannot be taken. */
export function answerDrafts(state: RunState, request: AnswerRequest, now: number): AnswerDrafts {
  const interrupt = openInterrupt(state, request, now);
  const { interruptId, nodeId } = interrupt;
  if (interrupt.kind === 'approval') return { interruptId, nodeId, ...approvalDrafts(interrupt, request, now) };
  if (interrupt.kind === 'conversation.exchange') {
    return { interruptId, nodeId, ...conversationDrafts(state, interrupt, request, now) };
  }
  const value = checkedValue(interrupt, request.value);
  const older = interrupt.kind === 'clarification' ? clarified(interrupt, value as JsonObject, request) : null;
  return { interruptId, nodeId, drafts: resolved(interrupt, value, request, now, older), settled: true };
}

const resolved = (
  { nodeId, interruptId, kind, seq }: InterruptView,
  value: Json,
  { principal }: AnswerRequest,
  at: number,
  older: Draft | null,
): Draft[] => resolveDrafts({ nodeId, interruptId, kind, cause: seq, at, value, by: principal ?? null }, older);

function openInterrupt(state: RunState, { nodeId, interruptId, value }: AnswerRequest, now: number): InterruptView {
  const { view } = state;
  const asked = interruptId ?? (nodeId === undefined ? undefined : askedBy(state, nodeId));
  const name = interruptId === undefined ? `of node ${nodeId}` : interruptId;
  const open = asked == null ? undefined : own(view.interrupts, asked);
  if (open === undefined) {
    const end = asked == null ? undefined : own(view.resolvedInterrupts, asked);
    if (end === 'resolved' && !state.ended && isTurn(value)) throw conversationClosed(state, name);
    throw closedError(state, end, name);
  }
  if (state.cancel !== null) throw closedError(state, 'cancelled', name);
  if (open.expiresAt !== null && now >= open.expiresAt) throw closedError(state, 'expired', name);
  return open;
}

/** The question a node waits for; one that was settled when it waits for none. A name that is no node's may be a question's. */
function askedBy({ view, runId }: RunState, name: string): string | null | undefined {
  const node = own(view.nodeStates, name);
  if (node === undefined) return name;
  const open = Object.values(view.interrupts).filter(({ nodeId }) => nodeId === name);
  if (open.length < 2) return open[0]?.interruptId ?? node.interruptId;
  const interruptIds = open.map(({ interruptId }) => interruptId);
  throw new TerminalError('validation_error', {
    message: `Node ${name} of run ${runId} waits for ${open.length} answers: ${interruptIds.join(', ')}.`,
    hint: 'Name the one that is meant in the place of the node.',
    details: { runId, nodeId: name, interruptIds },
  });
}

/** What is said after the end is no late answer: there is nothing that it could have answered. */
const isTurn = (value: Json): boolean => isObject(value) && value.operation === 'exchange';

const conversationClosed = ({ runId, view }: RunState, name: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The conversation of the interrupt ${name} is closed: no turn follows its last one.`,
    hint: 'Read the run to see where it stands.',
    details: { runId, runStatus: view.status },
  });

function closedError(state: RunState, end: string | undefined, name: string): TerminalError {
  const details = { runId: state.runId, runStatus: state.view.status };
  if (end === undefined) {
    const message = `The run ${state.runId} has no interrupt ${name}.`;
    return new TerminalError('interrupt_not_found', {
      message,
      hint: 'Read the run to see what it waits for.',
      details,
    });
  }
  if (end === 'expired') {
    const message = `The interrupt ${name} is past its time.`;
    return new TerminalError('interrupt_expired', {
      message,
      hint: 'It counts as rejected; start a new run.',
      details,
    });
  }
  const cancelled = end === 'cancelled' && (state.cancel !== null || state.view.status === 'cancelled');
  return cancelled
    ? new TerminalError('interrupt_cancelled', {
        message: `The run ${state.runId} was cancelled while the interrupt ${name} waited.`,
        hint: 'Nothing is left to answer.',
        details,
      })
    : new TerminalError('interrupt_already_resolved', {
        message: `The interrupt ${name} is not open any more.`,
        hint: 'Only the first answer counts; read the run to see where it stands.',
        details,
      });
}

function checkedValue(interrupt: InterruptView, value: Json): Json {
  switch (interrupt.kind) {
    case 'clarification': {
      const answer = parseClarificationAnswer(value);
      checkAnswers(interrupt, answer.answers as JsonObject);
      return checkedBySchema(interrupt, answer as JsonObject);
    }
    case 'external-event': {
      const event = parseExternalAnswer(value) as JsonObject;
      checkCorrelation(interrupt, event.eventPayload as Json);
      return checkedBySchema(interrupt, event);
    }
    default:
      return checkedBySchema(interrupt, value);
  }
}

function checkedBySchema({ resumeSchema, interruptId }: InterruptView, value: Json): Json {
  if (resumeSchema !== null) refuseProblems(interruptId, compileSchema(resumeSchema)(value));
  return value;
}

/** The event must be the one that is waited for, not another of its kind. */
function checkCorrelation({ data, interruptId }: InterruptView, payload: Json): void {
  const fields = isObject(payload) ? payload : {};
  const problems = Object.entries((data.correlation ?? {}) as JsonObject)
    .filter(([name, expected]) => !isOfSignIn(data, name) && !jsonEquals(own(fields, name), expected))
    .map(([name, expected]) => `eventPayload.${name} must be ${JSON.stringify(expected)}`);
  refuseProblems(interruptId, problems);
}

/** What a sign-in says of itself is for whoever signs in, and does not come back. */
const signInFields: readonly string[] = ['authType', 'provider', 'scopes', 'authUrl', 'prompt'];

const isOfSignIn = ({ correlation }: JsonObject, name: string): boolean =>
  typeof (correlation as JsonObject).authType === 'string' && signInFields.includes(name);

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every question once, nothing else, each answer as its question's schema has it. */
function checkAnswers({ data, interruptId }: InterruptView, answers: JsonObject): void {
  const questions = data.questions as unknown as readonly ClarificationQuestion[];
  const known = new Set(questions.map((question) => question.id));
  const problems = Object.keys(answers)
    .filter((id) => !known.has(id))
    .map((id) => `there is no question ${id}`);
  for (const { id, schema } of questions) {
    const answer = own(answers, id);
    if (answer === undefined) problems.push(`question ${id} has no answer`);
    else if (schema !== undefined) {
      for (const problem of compileSchema(schema as JsonObject)(answer)) problems.push(`question ${id}: ${problem}`);
    }
  }
  refuseProblems(interruptId, problems);
}

const clarified = (
  { nodeId, interruptId, seq }: InterruptView,
  value: JsonObject,
  { principal }: AnswerRequest,
): Draft => ({
  type: 'clarification.resolved',
  nodeId,
  cause: seq,
  audience: 'client',
  payload: {
    nodeId,
    interruptId,
    answers: value.answers as JsonObject,
    ...(principal === undefined ? {} : { answeredBy: principal }),
  },
});

function approvalDrafts(interrupt: InterruptView, request: AnswerRequest, now: number) {
  const { data, interruptId } = interrupt;
  const offered = data.actions as unknown as readonly ApprovalAction[];
  const answer = parseApprovalAnswer(request.value, offered);
  if (!offered.includes(answer.action)) {
    refuseProblems(interruptId, [`the action ${answer.action} is not offered; it offers ${offered.join(', ')}`]);
  }
  // Who decided is what the credential says, never what the body claims.
  const decidedBy = request.principal ?? 'anonymous';
  const value = { ...answer, decidedBy, decidedAt: isoTime(now) } as JsonObject;
  checkedBySchema(interrupt, value);
  const outcome = quorum(interrupt, decidedBy, answer.action);
  const received = receivedDraft(interrupt, value);
  if (outcome === 'open') return { drafts: [received], settled: false };
  const settledValue = outcome === 'rejected' && answer.action !== 'reject' ? { ...value, action: 'reject' } : value;
  return { drafts: resolved(interrupt, settledValue, request, now, received), settled: true };
}

const receivedFields = [
  'action',
  'decidedBy',
  'decidedAt',
  'feedback',
  'refineFeedback',
  'editedArtifactData',
] as const;

function receivedDraft({ nodeId, interruptId, seq }: InterruptView, value: JsonObject): Draft {
  const payload: Record<string, Json> = { nodeId, interruptId };
  for (const name of receivedFields) {
    const field = value[name];
    if (field !== undefined) payload[name] = field;
  }
  return { type: 'approval.received', nodeId, cause: seq, audience: 'client', payload };
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
