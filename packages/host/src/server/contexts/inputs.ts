/** Answers to what the tasks of a context ask. */
import {
  type AnswerInput,
  answerInput,
  type ContextId,
  type InterruptKind,
  type InterruptView,
  inputAnswered,
  isCairnError,
  isClientCall,
  isJsonObject,
  type Json,
  type JsonObject,
  parseShape,
  quoted,
  type RunView,
  TerminalError,
} from '@cairn/protocol';
import type { Engine, InterruptAnswered } from '../../engine/engine.ts';
import type { LoadView } from '../../engine/loading/run-view.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { InterruptRecord } from '../../log/ports/run-index.ts';
import { answeringPeer } from '../access/auth.ts';
import { type Call, pathParam, type Route } from '../http/routes.ts';
import { contextHasNo, isPlainId } from '../http/unknown-id.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { visibleContext } from './context-params.ts';

export interface InputSurface {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly loadView: LoadView;
}

export function inputRoutes(surface: InputSurface): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/contexts/{contextId}/inputs/{inputId}',
      scope: 'approvals:respond',
      handle: (call) => answer(call, surface),
      doc: {
        id: 'answerInput',
        summary: 'Answer what a task asks',
        body: answerInput,
        responses: { 202: { description: 'The answer counts.', shape: inputAnswered } },
        errors: [
          'not_found',
          'input_already_answered',
          'input_invalid',
          'event_too_large',
          'run_state_too_large',
          'quota_exceeded',
        ],
      },
    },
  ];
}

async function answer(call: Call, surface: InputSurface): Promise<string> {
  const given = parseShape(answerInput, call.request.body, 'The answer');
  const contextId = await visibleContext(call, surface.contexts);
  return answerOpen(call, surface, { contextId, inputId: pathParam(call, 'inputId'), given });
}

/** An answer to an input of a context, whatever protocol it came with. */
export interface GivenAnswer {
  readonly contextId: ContextId;
  readonly inputId: string;
  readonly given: AnswerInput;
  /** What is recorded and returned. Default: the ids of the input and its task. */
  readonly recorded?: () => string;
}

export async function answerOpen(call: Call, surface: InputSurface, answer: GivenAnswer): Promise<string> {
  const { contextId, inputId, given } = answer;
  const [asked] = await surface.contexts.interrupts(contextId, inputId);
  if (asked === undefined) throw notAsked(inputId);
  if (!asked.open) throw alreadyAnswered(inputId);
  const { runId } = asked;
  const view = await surface.loadView(runId);
  const value = valueFor(given, open(view, asked), inputId);
  const { tenant, principal } = call.caller;
  const peer = answeringPeer(call.caller);
  const request = { tenant, runId, interruptId: inputId, value, principal, peer };
  return recordedCommand<InterruptAnswered>(call, {
    status: 202,
    body: answer.recorded ?? (() => JSON.stringify({ inputId, taskId: runId })),
    command: (idempotency) => named(inputId, surface.engine.answer({ ...request, idempotency })),
  });
}

/** Another answer may have come since the index was read. */
function open({ interrupts }: RunView, { interruptId }: InterruptRecord): InterruptView {
  const found = Object.hasOwn(interrupts, interruptId) ? interrupts[interruptId] : undefined;
  if (found === undefined) throw alreadyAnswered(interruptId);
  return found;
}

/** The engine's words for the same refusals are those of interrupts. */
async function named<Answered>(inputId: string, answering: Promise<Answered>): Promise<Answered> {
  try {
    return await answering;
  } catch (error) {
    if (isCairnError(error, 'validation_error')) throw invalid(inputId, error.message, error);
    if (isCairnError(error, 'interrupt_not_found')) throw notAsked(inputId);
    if (closed.some((code) => isCairnError(error, code))) throw alreadyAnswered(inputId);
    throw error;
  }
}

const closed = ['interrupt_already_resolved', 'interrupt_expired', 'interrupt_cancelled', 'run_terminal'] as const;

/** What the kind of a question takes. A client may also send that form itself. */
function valueFor(given: AnswerInput, asked: InterruptView, inputId: string): Json {
  const { kind } = asked;
  if (isClientCall(asked)) return { eventPayload: toolResult(given) };
  const only = kind === 'clarification' ? onlyQuestion(asked) : null;
  if ('reject' in given) {
    if (only?.isYesOrNo) return { answers: { [only.id]: false } };
    if (!rejectable.has(kind)) throw invalid(inputId, 'This input cannot be rejected; it needs a value.');
    return { action: 'reject', ...(given.reason !== undefined && { feedback: given.reason }) };
  }
  const { value } = given;
  if (kind === 'approval' && typeof value === 'boolean') return { action: value ? 'accept' : 'reject' };
  // A no to a question that takes only a yes.
  if (only?.isYesOnly && value === false) return { action: 'reject' };
  return only === null || namesQuestion(value, only.id) ? value : { answers: { [only.id]: value } };
}

/** The form of an interrupt. A bare answer may have a field of that name, too. */
function namesQuestion(value: Json, id: string): boolean {
  const answers = isJsonObject(value) ? value.answers : undefined;
  return answers !== undefined && isJsonObject(answers) && Object.hasOwn(answers, id);
}

const rejectable: ReadonlySet<InterruptKind> = new Set<InterruptKind>(['approval', 'clarification', 'low-confidence']);

interface OnlyQuestion {
  readonly id: string;
  readonly isYesOrNo: boolean;
  readonly isYesOnly: boolean;
}

/** The question of a clarification that has no other: it takes a bare answer. */
function onlyQuestion({ data, resumeSchema }: InterruptView): OnlyQuestion | null {
  const [question, ...others] = Array.isArray(data.questions) ? data.questions : [];
  if (others.length > 0 || !isJsonObject(question) || typeof question.id !== 'string') return null;
  const schema = isJsonObject(question.schema) ? question.schema : {};
  // Another rule may take no other answer than yes.
  const isConfirmation = resumeSchema === null && schema.type === 'boolean';
  const takesNo = isConfirmation && schemaProblems(schema, false).length === 0;
  return { id: question.id, isYesOrNo: takesNo, isYesOnly: isConfirmation && !takesNo };
}

/** A client that cannot execute its tool rejects the call, and the agent is told why. */
const toolResult = (given: AnswerInput): JsonObject =>
  'reject' in given ? { error: given.reason ?? 'The client did not execute the tool.' } : { result: given.value };

const notAsked = (inputId: string): TerminalError =>
  new TerminalError('not_found', {
    message: contextHasNo('input', inputId, isPlainId(inputId)),
    hint: 'The tasks of the context list what they wait for.',
  });

const alreadyAnswered = (inputId: string): TerminalError =>
  new TerminalError('input_already_answered', {
    message: `The input ${quoted(inputId, 130)} does not wait for an answer any more.`,
    hint: 'Only the first answer counts. The events of the context say who gave it, or why it ended.',
    details: { inputId },
  });

const invalid = (inputId: string, message: string, cause?: unknown): TerminalError =>
  new TerminalError('input_invalid', {
    message,
    hint: 'The input stays open. Its schema says what an answer looks like.',
    details: { inputId },
    ...(cause !== undefined && { cause }),
  });
