/** What a run brings for a task that waits: answers to interrupts, results of client tools, or the text of the user. */
import { type AnswerInput, type ContextId, isCairnError, type Json, type RunId } from '@cairn/protocol';
import { clientCallOf } from '../../bridges/agui/questions.ts';
import { type News, resultOf, type ToolResult } from '../../bridges/agui/run-input.ts';
import type { Question, RunState } from '../../bridges/agui/run-state.ts';
import { requireScope } from '../access/auth.ts';
import { answerOpen, type InputSurface } from '../contexts/inputs.ts';
import type { Call } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';

interface Answer {
  readonly inputId: string;
  readonly given: AnswerInput | 'cancel';
}

/** The open input that a text answers: a question of the root task without a form. */
const takesText = ({ asked }: Question, { run }: RunState): boolean =>
  asked.kind === 'input-required' &&
  asked.taskId === run.taskId &&
  asked.inputType === 'clarification' &&
  asked.schema === undefined;

/** Which of the open questions a run answers. Results of calls that wait no more are history. */
export function answersIn(news: News, state: RunState | null): readonly Answer[] {
  const entries = news.answers.flatMap((entry) => ofEntry(entry, state));
  const results = news.results.flatMap((result) => ofResult(result, state));
  const known = new Set(entries.map(({ inputId }) => inputId));
  const answers = [...entries, ...results.filter(({ inputId }) => !known.has(inputId))];
  if (answers.length > 0 || news.said === null || state === null) return answers;
  const asked = [...state.questions.values()].find((question) => takesText(question, state))?.asked;
  if (asked?.kind !== 'input-required') return answers;
  return [{ inputId: asked.inputId, given: { value: news.said.text } }];
}

/** The agent goes on without a confirmation, and without a tool of the client. */
const isRejectable = (question: Question, state: RunState): boolean =>
  (question.asked.kind === 'input-required' && question.asked.inputType === 'confirmation') ||
  clientCallOf(state, question) !== null;

/** An interrupt that is not in the task is answered too: the host says why it does not take it. */
function ofEntry({ interruptId, status, payload }: News['answers'][number], state: RunState | null): readonly Answer[] {
  const question = state?.questions.get(interruptId);
  const asked = question?.asked;
  // A sign-in is completed in the browser of the user: the run only goes on.
  if (status === 'resolved' && (asked?.kind === 'auth-required' || (asked ?? payload) === undefined)) return [];
  if (status === 'resolved') return [{ inputId: interruptId, given: { value: (payload ?? null) as Json } }];
  const isRejected = state !== null && question !== undefined && isRejectable(question, state);
  return [{ inputId: interruptId, given: isRejected ? { reject: true } : 'cancel' }];
}

/** Longest reason of a rejection. */
const MAX_REASON = 2_000;

function ofResult({ toolCallId, text, error }: ToolResult, state: RunState | null): readonly Answer[] {
  for (const { asked } of state?.questions.values() ?? []) {
    if (asked.kind !== 'input-required' || asked.inputType !== 'tool-execution') continue;
    if (asked.toolCallId !== toolCallId) continue;
    const given =
      error === undefined ? { value: resultOf(text) } : ({ reject: true, reason: error.slice(0, MAX_REASON) } as const);
    return [{ inputId: asked.inputId, given }];
  }
  return [];
}

export interface Answering {
  readonly contextId: ContextId;
  /** The root task; null when none is open, so that no answer fits. */
  readonly taskId: RunId | null;
  readonly answers: readonly Answer[];
  /** What is recorded with the last answer. */
  readonly recorded: string;
}

/**
 * Gives all answers. Only the last one carries the record of the run, so that a run that a crash cut gives the rest when
 * it is repeated: what was answered then is passed over.
 */
export async function giveAnswers(call: Call, surface: InputSurface, answering: Answering): Promise<string> {
  const { contextId, answers, recorded } = answering;
  requireScope(call.caller, 'approvals:respond');
  const unrecorded = { ...call, requestKey: undefined };
  for (const [place, { inputId, given }] of answers.entries()) {
    const isLast = place === answers.length - 1;
    const from = isLast ? call : unrecorded;
    try {
      if (given === 'cancel') await cancelTask(from, surface, answering);
      else await answerOpen(from, surface, { contextId, inputId, given, recorded: () => recorded });
    } catch (error) {
      if (isLast || !isCairnError(error, 'input_already_answered')) throw error;
    }
  }
  return recorded;
}

/** A task whose question is not answered is over. */
async function cancelTask(call: Call, { engine }: InputSurface, { taskId: runId, recorded }: Answering): Promise<void> {
  const { tenant, principal } = call.caller;
  requireScope(call.caller, 'runs:cancel');
  // What was asked is over already.
  if (runId === null) return;
  await recordedCommand(call, {
    status: 202,
    body: () => recorded,
    command: (idempotency) =>
      engine.cancel({ tenant, principal, runId, reason: 'the interrupt was cancelled', idempotency }),
  });
}
