/**
 * Validates an answer to an interrupt and returns the rows that record it. Counts votes on a gate with several
 * approvers.
 */
import {
  type ApprovalAnswer,
  type ClarificationAnswer,
  type InterruptView,
  isClientCall,
  isHostSignIn,
  isJsonObject,
  isoTime,
  type Json,
  type JsonObject,
  jsonEquals,
  parseApprovalAnswer,
  parseClarificationAnswer,
  parseExternalAnswer,
  requiresUser,
  row,
  TerminalError,
} from '@cairn/protocol';
import { schemaProblems } from '../../values/schemas.ts';
import type { SentAnswer } from '../../workflow/driven-calls.ts';
import type { Workflow } from '../../workflow/workflow.ts';
import { drivenAnswer } from '../driven.ts';
import { dataOf, resolveDrafts } from '../interrupts.ts';
import type { PayloadDraft } from '../payload-draft.ts';
import type { Draft, RunState } from '../state.ts';
import { quorum } from './quorum.ts';
import { refuseProblems } from './refuse-answer.ts';
import { rejectionDrafts } from './rejection.ts';

export interface AnswerRequest {
  /** The waiting node. An interrupt id is also accepted if no node has that id. */
  readonly nodeId?: string | undefined;
  /** The interrupt to answer. With it, a duplicate answer never resolves the next interrupt of the same node. */
  readonly interruptId?: string | undefined;
  readonly value: Json;
  readonly principal?: string | undefined;
  /** For an answer with a one-time token: its id. In a conversation it takes one turn, as a person. */
  readonly tokenId?: string | undefined;
  /** The host that answers with its own key, and may not answer for users. */
  readonly peer?: string | undefined;
  /** The host itself has carried out the sign-in, or knows that the user refused. */
  readonly completesSignIn?: boolean | undefined;
}

export interface AnswerDrafts {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly drafts: readonly Draft[];
}

interface AnsweredRun {
  readonly state: RunState;
  readonly workflow: Workflow;
}

/** Throws with an error code of wire 2.14 if the answer is not accepted. */
export function answerDrafts(run: AnsweredRun, request: AnswerRequest, now: number): AnswerDrafts {
  const interrupt = openInterrupt(run.state, request, now);
  const { interruptId, nodeId } = interrupt;
  const { value, principal, tokenId, completesSignIn = false } = request;
  if (isHostSignIn(interrupt) && !completesSignIn) throw onlyBySigningIn(interruptId);
  if (requiresUser(interrupt)) refuseOthers(run.state, interrupt, request);
  const sent: SentAnswer = { value, principal, tokenId, now };
  const rejected = Object.hasOwn(run.state.inner, nodeId) ? null : rejectionDrafts(interrupt, sent);
  const drafts = rejected ?? drivenAnswer(run, interrupt, sent) ?? usualAnswer(interrupt, sent);
  return { interruptId, nodeId, drafts };
}

/** A token is made to be passed on, so its bearer counts as another principal. Another host is no user. */
function refuseOthers({ view }: RunState, interrupt: InterruptView, request: AnswerRequest): void {
  const { principal, tokenId, peer } = request;
  const { interruptId } = interrupt;
  // A host that offered tools executes them.
  const isOwn = tokenId === undefined && (peer === undefined || isClientCall(interrupt));
  if (isOwn && (principal ?? null) === (view.owner?.principal ?? null)) return;
  throw new TerminalError('forbidden', {
    message: `Only the user who started the run may answer ${interruptId}.`,
    hint: 'Answer with a key or token of that user.',
    details: { interruptId },
  });
}

/** Handles the answer by the interrupt's kind. */
function usualAnswer(interrupt: InterruptView, sent: SentAnswer): readonly Draft[] {
  switch (interrupt.kind) {
    case 'approval':
      return approvalDrafts(interrupt, sent);
    case 'clarification': {
      const answer = parseClarificationAnswer(sent.value);
      checkAnswers(interrupt, answer.answers);
      checkBySchema(interrupt, answer);
      return resolved(interrupt, answer, sent, clarified(interrupt, answer, sent));
    }
    case 'external-event': {
      if (isHostSignIn(interrupt)) return signInDrafts(interrupt, sent);
      const event = parseExternalAnswer(sent.value);
      checkCorrelation(interrupt, event.eventPayload);
      checkBySchema(interrupt, event);
      return resolved(interrupt, event, sent, null);
    }
    default:
      checkBySchema(interrupt, sent.value);
      return resolved(interrupt, sent.value, sent, null);
  }
}

const resolved = (
  { nodeId, interruptId, kind, seq }: InterruptView,
  value: Json,
  { principal, now }: SentAnswer,
  older: Draft | null,
): Draft[] => resolveDrafts({ nodeId, interruptId, kind, cause: seq, at: now, value, by: principal ?? null }, older);

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

/**
 * Returns the node's open interrupt, or its last resolved one. A name that matches no node is taken as an interrupt id.
 */
function askedBy({ view, runId }: RunState, name: string): string | null | undefined {
  const node = own(view.nodeStates, name);
  if (node === undefined) return name;
  const open = Object.values(view.interrupts).filter(({ nodeId }) => nodeId === name);
  if (open.length < 2) return open[0]?.interruptId ?? node.interruptId;
  const interruptIds = open.map(({ interruptId }) => interruptId);
  throw new TerminalError('validation_error', {
    message: `Node ${name} of run ${runId} waits for ${open.length} answers: ${interruptIds.join(', ')}.`,
    hint: 'Put the id of the interrupt in the place of the node.',
    details: { runId, nodeId: name, interruptIds },
  });
}

/** A conversation turn sent after the close is not a late answer, because no open question existed for it. */
const isTurn = (value: Json): boolean => isJsonObject(value) && value.operation === 'exchange';

const conversationClosed = ({ runId, view }: RunState, name: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The conversation of the interrupt ${name} is closed: no turn follows its last one.`,
    hint: 'Read the run to see where it stands.',
    details: { runId, runStatus: view.status },
  });

function closedError(state: RunState, end: string | undefined, name: string): TerminalError {
  const details = { runId: state.runId, runStatus: state.view.status };
  if (end === undefined) {
    // Other text may be anything, also a secret.
    const shown = /^(?:of node )?[\w.:-]{1,128}$/.test(name) ? `interrupt ${name}` : 'such interrupt';
    const message = `The run ${state.runId} has no ${shown}.`;
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

function checkBySchema({ resumeSchema, interruptId }: InterruptView, value: Json): void {
  if (resumeSchema !== null) refuseProblems(interruptId, schemaProblems(resumeSchema, value));
}

/** The event must match the correlation of the interrupt, not only its kind. */
function checkCorrelation({ data, interruptId }: InterruptView, payload: Json): void {
  const fields = isJsonObject(payload) ? payload : {};
  const { correlation = {} } = dataOf<'external-event'>(data);
  const isSignIn = typeof correlation.authType === 'string';
  const problems = Object.entries(correlation)
    .filter(([name]) => !isSignIn || !signInFields.includes(name))
    .filter(([name, expected]) => !jsonEquals(own(fields, name), expected))
    .map(([name, expected]) => `eventPayload.${name} must be ${JSON.stringify(expected)}`);
  refuseProblems(interruptId, problems);
}

/** A sign-in shows these fields to the user; the event does not return them. */
const signInFields: readonly string[] = ['authType', 'provider', 'scopes', 'authUrl', 'prompt'];

/** A caller that could send the result could name the credential of another user. */
const onlyBySigningIn = (interruptId: string): TerminalError =>
  new TerminalError('forbidden', {
    message: `${interruptId} is a sign-in: it is completed by signing in, not by an answer.`,
    hint: 'Send the user to its authUrl, or POST /api/contexts/{contextId}/auths/{authId}.',
    details: { interruptId },
  });

/** `value` is what the host knows of the sign-in. A credential of an OAuth provider has a row of its own. */
function signInDrafts(interrupt: InterruptView, sent: SentAnswer): Draft[] {
  const { data, nodeId, seq } = interrupt;
  const { provider, credentialRef, scopes } = isJsonObject(sent.value) ? sent.value : {};
  const { correlation } = dataOf<'external-event'>(data);
  const granted = Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
  const stored =
    typeof provider === 'string' && typeof credentialRef === 'string' && correlation.authType === 'oauth2'
      ? row('connector.authorized', { provider, credentialRef, scopes: granted }, { nodeId, cause: seq })
      : null;
  return resolved(interrupt, { eventPayload: sent.value }, sent, stored);
}

/** Each question needs exactly one answer that matches its schema. Other answers are rejected. */
function checkAnswers({ data, interruptId }: InterruptView, answers: JsonObject): void {
  const { questions } = dataOf<'clarification'>(data);
  const known = new Set(questions.map((question) => question.id));
  const problems = Object.keys(answers)
    .filter((id) => !known.has(id))
    .map((id) => `there is no question ${id}`);
  for (const { id, schema } of questions) {
    const answer = own(answers, id);
    if (answer === undefined) problems.push(`question ${id} has no answer`);
    else if (schema !== undefined) {
      for (const problem of schemaProblems(schema, answer)) problems.push(`question ${id}: ${problem}`);
    }
  }
  refuseProblems(interruptId, problems);
}

function clarified(
  { nodeId, interruptId, seq }: InterruptView,
  { answers }: ClarificationAnswer,
  { principal }: SentAnswer,
): Draft {
  const payload = { nodeId, interruptId, answers, ...(principal === undefined ? {} : { answeredBy: principal }) };
  return row('clarification.resolved', payload, { nodeId, cause: seq });
}

function approvalDrafts(interrupt: InterruptView, sent: SentAnswer): readonly Draft[] {
  const { data, interruptId } = interrupt;
  const { actions: offered } = dataOf<'approval'>(data);
  const answer = parseApprovalAnswer(sent.value, offered);
  if (!offered.includes(answer.action)) {
    refuseProblems(interruptId, [`the action ${answer.action} is not offered; it offers ${offered.join(', ')}`]);
  }
  // The decider comes from the credential, never from the request body.
  const decidedBy = sent.principal ?? 'anonymous';
  const value = { ...answer, decidedBy, decidedAt: isoTime(sent.now) };
  checkBySchema(interrupt, value);
  const outcome = quorum(interrupt, decidedBy, answer);
  if (outcome === 'repeated') return [];
  const received = receivedDraft(interrupt, value);
  if (outcome === 'open') return [received];
  const isOverruled = outcome === 'rejected' && answer.action !== 'reject';
  return resolved(interrupt, isOverruled ? { ...value, action: 'reject' } : value, sent, received);
}

type Vote = ApprovalAnswer & { readonly decidedBy: string; readonly decidedAt: string };

function receivedDraft({ nodeId, interruptId, seq }: InterruptView, value: Vote): Draft {
  const { action, decidedBy, decidedAt, feedback } = value;
  const payload: PayloadDraft<'approval.received'> = { nodeId, interruptId, action, decidedBy, decidedAt };
  if (feedback !== undefined) payload.feedback = feedback;
  // Recorded with any action, because an answer may carry more fields than its action needs.
  if ('refineFeedback' in value && value.refineFeedback !== undefined) payload.refineFeedback = value.refineFeedback;
  if ('editedArtifactData' in value && value.editedArtifactData !== undefined) {
    payload.editedArtifactData = value.editedArtifactData;
  }
  return row('approval.received', payload, { nodeId, cause: seq });
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
