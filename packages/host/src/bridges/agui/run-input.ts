/** The input of an AG-UI run: its bounds, and what in it is new to the host. Clients send their whole history each time. */
import {
  type DataOf,
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_CLIENT_TOOLS,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';

const MAX_MESSAGES = 5_000;
const MAX_CONTEXT = 100;
const MAX_RESUMED = 100;

const id = z.string().min(1).max(128);
const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.union([z.string(), z.array(part).max(1_000)]);

/** Roles that hold nothing new for the host are taken as they are. */
const message = z.union([
  z.looseObject({ id: z.string(), role: z.literal('user'), content }),
  z.looseObject({
    id: z.string(),
    role: z.literal('tool'),
    content,
    toolCallId: z.string(),
    error: z.string().optional(),
  }),
  z.looseObject({ id: z.string(), role: z.enum(['developer', 'system', 'assistant', 'activity', 'reasoning']) }),
]);

export const runAgentInput = z
  .looseObject({
    threadId: id.describe('The conversation: the id of a context, or a name that the client made up.'),
    runId: id.describe('Identifies the run: a repeated request shows the same run again.'),
    parentRunId: z.string().max(256).optional(),
    messages: z.array(message).max(MAX_MESSAGES),
    state: z.unknown().optional().describe('Any JSON. An object is the start of the shared state.'),
    tools: z
      .array(z.looseObject({ name: z.string(), description: z.string(), parameters: z.looseObject({}).optional() }))
      .max(MAX_CLIENT_TOOLS)
      .optional()
      .describe('Tools that the client performs.'),
    context: z
      .array(z.looseObject({ description: z.string(), value: z.string() }))
      .max(MAX_CONTEXT)
      .optional(),
    forwardedProps: z.unknown().optional(),
    resume: z
      .array(
        z.looseObject({
          interruptId: z.string(),
          status: z.enum(['resolved', 'cancelled']),
          payload: z.unknown().optional(),
        }),
      )
      .max(MAX_RESUMED)
      .optional()
      .describe('Answers to the interrupts of an earlier run.'),
  })
  .meta({ id: 'AguiRunInput' });

export type RunInput = DataOf<typeof runAgentInput>;

export interface ToolResult {
  readonly toolCallId: string;
  /** As the client sent it: most results are history, and only one that answers something is read. */
  readonly text: string;
  readonly error: string | undefined;
}

/** What a run brings. Everything else in its input is history. */
export interface News {
  readonly answers: NonNullable<RunInput['resume']>;
  /** Results of tools after the last message of the agent. */
  readonly results: readonly ToolResult[];
  /** The text of the last message, if it is the user's. */
  readonly said: { readonly id: string; readonly text: string } | null;
}

export function newsOf({ messages, resume = [], context = [] }: RunInput): News {
  const results: ToolResult[] = [];
  for (const one of messages.toReversed()) {
    if (one.role === 'assistant') break;
    if (one.role === 'tool') {
      results.push({ toolCallId: one.toolCallId, text: textOf(one.content), error: one.error });
    }
  }
  const last = messages.at(-1);
  const said = last?.role === 'user' ? { id: last.id, text: textOf(last.content) + contextText(context) } : null;
  return { answers: resume, results: results.reverse(), said };
}

function textOf(given: DataOf<typeof content>): string {
  if (typeof given === 'string') return given;
  const other = given.find(({ type, text }) => type !== 'text' || text === undefined);
  if (other !== undefined) {
    throw new TerminalError('validation_error', {
      message: `A message has a part of type ${JSON.stringify(other.type.slice(0, 40))}; this host takes text.`,
      hint: 'Send text parts, or content as a string.',
      details: { field: 'messages' },
    });
  }
  return given.map(({ text = '' }) => text).join('\n');
}

/** Clients send results as text. What is JSON was a value before. */
export function resultOf(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

const CONTEXT_MARK = '\n\n---\nContext:\n';

/** The agent reads what the page shows after the message of the user. */
const contextText = (context: NonNullable<RunInput['context']>): string =>
  context.length === 0
    ? ''
    : CONTEXT_MARK + context.map(({ description, value }) => `${description}: ${value}`).join('\n');

/** What the user wrote, without the context that came with it. */
export function withoutContext(text: string): string {
  const mark = text.lastIndexOf(CONTEXT_MARK);
  return mark === -1 ? text : text.slice(0, mark);
}

/** The shared state of the client, if it has one to build on. */
export const stateOf = ({ state }: RunInput): JsonObject | undefined => {
  const given = state as Json | undefined;
  return given !== undefined && isJsonObject(given) ? given : undefined;
};
