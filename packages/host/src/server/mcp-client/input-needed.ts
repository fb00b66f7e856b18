/** What an MCP server asks people before it continues a call, and the answers that the repeated request carries. */

import { declinable, type JsonObject, type RemoteRun, remoteRun, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { HostToolContext } from '../../agents/tools/tool.ts';
import { passQuestionOn, type Said } from '../peers/passed-question.ts';
import { QUESTION_META, type QuestionMeta, questionMeta, REASON_META } from '../peers/question-meta.ts';
import type { Questions } from './held-calls.ts';

/** Maximum rounds of questions in one call. */
export const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 10;
/** Characters of a question. The rest is left out. */
const MAX_WORDS = 3_000;
/** It is recorded with the questions. */
const MAX_STATE = 60_000;

const question = z.object({
  method: z.literal('elicitation/create'),
  params: z.object({
    mode: z.literal('form').optional(),
    message: z.string().min(1),
    requestedSchema: z.record(z.string(), z.json()),
    _meta: z.looseObject({ [QUESTION_META]: questionMeta.optional().catch(undefined) }).optional(),
  }),
});

const needed = z.object({
  requestState: z.string().max(MAX_STATE).optional(),
  inputRequests: z
    .record(z.string().max(128), question)
    .default({})
    .refine((questions) => Object.keys(questions).length <= MAX_QUESTIONS),
});

/** As it is recorded. */
export type InputNeeded = {
  readonly requestState: string | null;
  readonly questions: readonly NeededAnswer[];
  /** The run whose call the server goes on with. */
  readonly runId: string;
  /** The run there that asks, as the server says. Absent in records of earlier versions. */
  readonly remote?: RemoteRun;
  /** The server waits for the answer on the connection of the call. Absent: it does not. */
  readonly isHeld?: true;
};

type NeededAnswer = {
  readonly key: string;
  readonly message: string;
  readonly schema: JsonObject;
  /** What a Cairn host says about its question. */
  readonly inputId?: string;
  readonly requireUser?: true;
  readonly isApproval?: true;
};

/** The additional fields of the repeated request. */
export interface AnsweredInput {
  readonly requestState?: string;
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
}

/** Throws `tool_failed` for questions that only a model or a browser could answer, and for too many of them. */
export function inputNeeded(serverId: string, { result, isHeld }: Questions, runId: string): InputNeeded {
  const { success, data } = needed.safeParse(result);
  if (success) {
    const { requestState = null, inputRequests } = data;
    const questions = Object.entries(inputRequests).map(([key, { params }]) => {
      const schema = params.requestedSchema as JsonObject;
      return { key, message: shown(params.message), schema, ...rulesOf(params._meta?.[QUESTION_META]) };
    });
    const remote = remoteRun.safeParse(result._meta).data;
    const held = isHeld ? ({ isHeld } as const) : {};
    return { requestState, questions, runId, ...(remote === undefined ? {} : { remote }), ...held };
  }
  throw new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} asks for input that this host does not give.`,
    hint: `It can ask people up to ${MAX_QUESTIONS} questions at a time, as forms.`,
  });
}

const shown = (words: string): string =>
  words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS).toWellFormed()}…` : words;

const rulesOf = ({ inputId, requireUser, isApproval }: QuestionMeta = {}) => ({
  ...(inputId === undefined ? {} : { inputId }),
  ...(requireUser === true ? { requireUser } : {}),
  ...(isApproval === true ? { isApproval } : {}),
});

interface Asking {
  readonly context: HostToolContext;
  readonly round: number;
  /** How long a server that waits on its connection may wait. */
  readonly answerMs: number;
}

/** Asks the questions one after the other. Each ends this entry into the call until it is answered. */
export async function answersTo(
  serverId: string,
  { requestState, questions, remote, isHeld }: InputNeeded,
  { context, round, answerMs }: Asking,
): Promise<AnsweredInput> {
  const inputResponses: Record<string, JsonObject> = {};
  for (const { key, message, schema, inputId, requireUser, isApproval } of questions) {
    const said = await passQuestionOn(context, {
      name: `${round}/${key}`,
      // A person must see who asks, because the text is not from this host.
      prompt: `The MCP server ${serverId} asks: ${message}`,
      schema: declinable(schema),
      requireUser,
      remote: { server: serverId, ...(inputId === undefined ? {} : { inputId }), ...remote },
      subkind: isApproval === true ? 'approval' : undefined,
      timeoutMs: isHeld === true ? answerMs : undefined,
    });
    inputResponses[key] = replyTo(said);
  }
  return { ...(requestState === null ? {} : { requestState }), inputResponses };
}

/** An answer of null declines, and so does a refusal. */
function replyTo(said: Said): JsonObject {
  if ('answer' in said)
    return said.answer === null ? { action: 'decline' } : { action: 'accept', content: said.answer };
  const { reason } = said;
  return { action: 'decline', ...(reason !== undefined && { _meta: { [REASON_META]: reason } }) };
}

export const endlessQuestions = (serverId: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} asked for input ${MAX_ROUNDS} times in one call.`,
    hint: 'The server may never be content; ask its operator.',
  });
