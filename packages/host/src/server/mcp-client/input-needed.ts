/** What an MCP server asks people before it goes on with a call, and the answers that the repeated request carries. */

import { type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { HostToolContext } from '../../agents/tools/tool.ts';

/** Rounds of questions in one call. */
export const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 10;
const MAX_WORDS = 2_000;
/** It is recorded with the questions. */
const MAX_STATE = 60_000;

const question = z.object({
  method: z.literal('elicitation/create'),
  params: z.object({
    mode: z.literal('form').optional(),
    message: z.string().min(1).max(MAX_WORDS),
    requestedSchema: z.record(z.string(), z.json()),
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
  readonly questions: readonly { readonly key: string; readonly message: string; readonly schema: JsonObject }[];
};

/** What the repeated request has besides the first one. */
export interface AnsweredInput {
  readonly requestState?: string;
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
}

/** Throws `tool_failed` for questions that only a model or a browser could answer, and for too many of them. */
export function inputNeeded(serverId: string, result: InputRequiredResult): InputNeeded {
  const { success, data } = needed.safeParse(result);
  if (success) {
    const { requestState = null, inputRequests } = data;
    const questions = Object.entries(inputRequests).map(([key, { params }]) => ({
      key,
      message: params.message,
      schema: params.requestedSchema as JsonObject,
    }));
    return { requestState, questions };
  }
  throw new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} asks for input that this host does not give.`,
    hint: `It can ask people up to ${MAX_QUESTIONS} questions at a time, as forms.`,
  });
}

/** Asks the questions one after the other. Each ends this entry into the call until it is answered. */
export async function answersTo(
  serverId: string,
  { requestState, questions }: InputNeeded,
  { context, round }: { readonly context: HostToolContext; readonly round: number },
): Promise<AnsweredInput> {
  const inputResponses: Record<string, JsonObject> = {};
  for (const { key, message, schema } of questions) {
    const content: Json = await context.ask({
      name: `${round}/${key}`,
      // A person must see who asks: these are not the words of this host.
      prompt: `The MCP server ${serverId} asks: ${message}`,
      schema,
    });
    inputResponses[key] = { action: 'accept', content };
  }
  return { ...(requestState === null ? {} : { requestState }), inputResponses };
}

export const endlessQuestions = (serverId: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} asked for input ${MAX_ROUNDS} times in one call.`,
    hint: 'The server may never be content; ask its operator.',
  });
