/** Task faces of interrupts and their answers: inputs and sign-ins. */
import type { EventOf } from '../events/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { own } from './dictionary.ts';
import { type InterruptView, isClientCall, isDeniedSignIn, isSignIn, openWaits, requiresUser } from './interrupts.ts';
import { promptOf } from './prompt.ts';
import type { RunView } from './run-view.ts';
import { isoTime } from './snapshot.ts';

/** The agent id of the host in the task view. */
export const HOST_AGENT = 'core.system';

type Blocker = { readonly type: 'input' | 'auth' | 'subtask'; readonly id: string };

/** What the task waits for: questions and sign-ins, oldest first, then subtasks. */
export function pendingOf(view: RunView): Blocker[] {
  return [
    ...openWaits(view).map((interrupt) => ({
      type: isSignIn(interrupt) ? ('auth' as const) : ('input' as const),
      id: interrupt.interruptId,
    })),
    ...Object.keys(view.subtasks).map((id) => ({ type: 'subtask' as const, id })),
  ];
}

export function asked(view: RunView, event: EventOf<'interrupt.requested'>): JsonObject | null {
  const { interruptId, key } = event.payload;
  const interrupt = own(view.interrupts, interruptId ?? key);
  if (interrupt === undefined) return null;
  const node = own(view.nodeStates, interrupt.nodeId);
  const toolCallId = calledBy(interrupt) ?? (node?.isAgent ? node.pausedCallId : node?.toolCallId) ?? null;
  const who = { ...(toolCallId !== null && { toolCallId }), ...(node?.isAgent && acting(node.agentId)) };
  return isSignIn(interrupt) ? authRequired(interrupt, who) : inputRequired(interrupt, toolCallId, who);
}

/** The tool call that a client executes; null for any other interrupt. */
function calledBy(interrupt: InterruptView): string | null {
  if (!isClientCall(interrupt) || !isJsonObject(interrupt.data.correlation)) return null;
  const { toolCallId } = interrupt.data.correlation;
  return typeof toolCallId === 'string' ? toolCallId : null;
}

const acting = (agentId: string | null): JsonObject => (agentId === null ? {} : { agentId });

function inputRequired(interrupt: InterruptView, toolCallId: string | null, who: JsonObject): JsonObject {
  const metadata = {
    ...(interrupt.kind === 'external-event' && { toolCall: awaitedCall(interrupt, toolCallId) }),
    ...(interrupt.kind === 'low-confidence' && lowConfidence(interrupt.data)),
    ...(interrupt.kind === 'conversation.exchange' && conversation(interrupt.data)),
    ...(interrupt.urgency !== undefined && { urgency: interrupt.urgency }),
    // In seconds, unlike every other span of the task view.
    ...(interrupt.timeoutMs !== null && { timeout: interrupt.timeoutMs / 1000 }),
  };
  const schema = interrupt.resumeSchema ?? onlyQuestion(interrupt);
  const options = schema === null ? null : optionsOf(schema);
  return {
    kind: 'input-required',
    inputId: interrupt.interruptId,
    ...(requiresUser(interrupt) && { requireUser: true }),
    inputType: options === null ? inputTypeOf(interrupt, schema) : 'selection',
    prompt: promptOf(interrupt),
    ...(schema !== null && { schema }),
    ...(options !== null && { options }),
    ...who,
    ...(interrupt.expiresAt !== null && { expiresAt: isoTime(interrupt.expiresAt) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The schema of a clarification with one question: its input takes the bare answer. */
function onlyQuestion({ kind, data }: InterruptView): JsonObject | null {
  if (kind !== 'clarification' || !Array.isArray(data.questions) || data.questions.length !== 1) return null;
  const [question] = data.questions;
  return isJsonObject(question) && isJsonObject(question.schema) ? question.schema : null;
}

/** What a schema lets a person choose from; null if it is no list of values. */
function optionsOf({ oneOf, enum: values }: JsonObject): Json[] | null {
  if (Array.isArray(values) && values.length > 0) return [...values];
  if (!Array.isArray(oneOf) || oneOf.length === 0) return null;
  const options = oneOf.flatMap((option) =>
    isJsonObject(option) && option.const !== undefined ? [shown(option)] : [],
  );
  return options.length === oneOf.length ? options : null;
}

const shown = ({ const: value = null, title, description }: JsonObject): JsonObject => ({
  value,
  label: typeof title === 'string' ? title : JSON.stringify(value),
  ...(typeof description === 'string' && { description }),
});

const inputTypeOf = ({ kind }: InterruptView, schema: JsonObject | null): string =>
  kind === 'clarification' && schema?.type === 'boolean' ? 'confirmation' : inputTypes[kind];

const lowConfidence = ({ threshold, observed, decision }: JsonObject): JsonObject => ({
  reason: 'low-confidence',
  ...(threshold !== undefined && { threshold }),
  ...(observed !== undefined && { observed }),
  ...(decision !== undefined && { decision }),
});

/** A conversation is answered turn by turn: the input stays open until it closes. */
const conversation = ({ conversationId, turnIndex }: JsonObject): JsonObject => ({
  reason: 'conversation',
  ...(conversationId !== undefined && { conversationId }),
  ...(turnIndex !== undefined && { turnIndex }),
});

const inputTypes: Readonly<Record<InterruptView['kind'], string>> = {
  approval: 'confirmation',
  clarification: 'clarification',
  'external-event': 'tool-execution',
  custom: 'custom',
  'conversation.start': 'clarification',
  'conversation.exchange': 'clarification',
  'conversation.close': 'clarification',
  'low-confidence': 'clarification',
};

function awaitedCall(interrupt: InterruptView, toolCallId: string | null): JsonObject {
  const { eventType = 'event', correlation = {} } = interrupt.data;
  const id = toolCallId ?? interrupt.interruptId;
  if (!isClientCall(interrupt) || !isJsonObject(correlation)) {
    return { id, function: { name: eventType, arguments: JSON.stringify(correlation) } };
  }
  const { toolName = '', arguments: given = {} } = correlation;
  return { id, function: { name: toolName, arguments: JSON.stringify(given) } };
}

const authFields = ['authType', 'provider', 'scopes', 'authUrl', 'encryptionKey', 'infoUrl'] as const;

function authRequired(interrupt: InterruptView, who: JsonObject): JsonObject {
  const correlation = isJsonObject(interrupt.data.correlation) ? interrupt.data.correlation : {};
  const said = authFields.filter((field) => correlation[field] !== undefined);
  return {
    kind: 'auth-required',
    authId: interrupt.interruptId,
    ...Object.fromEntries(said.map((field) => [field, correlation[field] ?? null])),
    prompt: typeof correlation.prompt === 'string' ? correlation.prompt : 'Sign in to go on.',
    ...who,
    ...(interrupt.timeoutMs !== null && { metadata: { expiresIn: interrupt.timeoutMs / 1000 } }),
  };
}

export function answered(view: RunView, event: EventOf<'interrupt.resolved'>): JsonObject {
  const { interruptId, resolvedBy, reason, resumeValue, outcome, agentId } = event.payload;
  const isTimeout = reason === 'timeout';
  const isCanceled = reason === 'canceled';
  const isRejected =
    outcome === 'rejected' || (isJsonObject(resumeValue) && (resumeValue.action === 'reject' || isDenied(resumeValue)));
  const userId = resolvedBy ?? view.owner?.principal ?? 'anonymous';
  if (view.ended === 'sign-in') {
    const isRefused = isRejected || isCanceled || isDeniedSignIn(resumeValue);
    const refused = isTimeout ? 'auth_expired' : isRefused ? 'auth_denied' : null;
    return refused === null ? signedIn(interruptId, userId, resumeValue) : notSignedIn(interruptId, refused);
  }
  const node = own(view.nodeStates, event.nodeId ?? event.payload.nodeId ?? '');
  const { ended } = view;
  // A node may ask several questions at once. The log of another host may lack a request.
  const isKnown = ended !== null && typeof ended === 'object' && 'askedAt' in ended;
  const askedAt = isKnown ? ended.askedAt : (node?.suspendedAt ?? null);
  // Nobody answered: the host closed the question.
  const isUnanswered = isTimeout || (isCanceled && resolvedBy === undefined);
  const answerer = isUnanswered ? HOST_AGENT : agentId;
  const provider = answerer === undefined ? { providedBy: 'user', userId } : { providedBy: 'agent', agentId: answerer };
  return {
    kind: 'input-received',
    inputId: interruptId,
    ...provider,
    metadata: {
      ...(askedAt !== null && { duration: event.at - askedAt }),
      outcome: isTimeout ? 'timeout' : isCanceled ? 'canceled' : isRejected ? 'rejected' : 'answered',
    },
  };
}

/** A confirmation that a tool asked for is a question with a yes or a no. */
function isDenied({ answers }: JsonObject): boolean {
  const [answer, ...others] = isJsonObject(answers) ? Object.values(answers) : [];
  return answer === false && others.length === 0;
}

/** Only a successful sign-in is `auth-completed`. The credential is not recorded. */
function signedIn(authId: string, userId: string, resumeValue: Json | undefined): JsonObject {
  const payload = isJsonObject(resumeValue) && isJsonObject(resumeValue.eventPayload) ? resumeValue.eventPayload : {};
  const { expiresAt, credentialRef } = payload;
  const metadata = {
    ...(typeof expiresAt === 'string' && { expiresAt }),
    ...(typeof credentialRef === 'string' && { credentialRef }),
  };
  return { kind: 'auth-completed', authId, userId, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

const notSignedIn = (authId: string, code: 'auth_expired' | 'auth_denied'): JsonObject => ({
  kind: 'error',
  code,
  message: code === 'auth_expired' ? 'Nobody signed in in time.' : 'The sign-in was refused.',
  retryable: code === 'auth_expired',
  scope: 'auth',
  refId: authId,
});
