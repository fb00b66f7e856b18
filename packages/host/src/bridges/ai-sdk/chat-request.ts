/**
 * What a chat transport of the AI SDK sends: the whole conversation as the page shows it. Only its news counts: the last
 * message of the user, and the results and approvals that a waiting task has not got yet. The log has the rest.
 */
import { type AnswerInput, type DataOf, type Json, parseShape, sendMessage, TerminalError } from '@cairn/protocol';
import { z } from 'zod';

const MAX_ID = 256;
const MAX_MESSAGES = 2_000;
const MAX_PARTS = 2_000;
/** In all messages together. */
const MAX_ALL_PARTS = 5_000;
/** Longest text of a tool that failed in the page. */
const MAX_REASON = 2_000;

const id = z.string().min(1).max(MAX_ID);

const anything = z.unknown().optional();

/** Parts of all kinds; only what the host reads is named. */
const part = z.looseObject({
  type: z.string().max(MAX_ID),
  text: anything,
  state: anything,
  toolCallId: anything,
  output: anything,
  errorText: anything,
  approval: anything,
});

const message = z.looseObject({
  id,
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(part).max(MAX_PARTS),
  metadata: anything,
});

export const chatRequest = z
  .looseObject({
    id: id.describe('The id of the chat, as the page made it up; or the id of a context.'),
    messages: z
      .array(message)
      .min(1)
      .max(MAX_MESSAGES)
      .describe('The chat. The host reads the news in it: the last message, results of tools, approvals.'),
    trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
    messageId: id.nullish().describe('The message to regenerate. Default: the last one.'),
    tools: sendMessage.shape.tools,
  })
  .meta({ id: 'AiSdkChat' });

export type ChatRequest = DataOf<typeof chatRequest>;
type Message = ChatRequest['messages'][number];

/** Counts before it looks: to check each of very many parts would take long. */
export function parseChat(body: unknown): ChatRequest {
  const messages: unknown = typeof body === 'object' && body !== null && 'messages' in body ? body.messages : [];
  let count = 0;
  for (const one of Array.isArray(messages) ? messages : []) count += partsOf(one);
  if (count <= MAX_ALL_PARTS) return parseShape(chatRequest, body, 'The chat');
  throw new TerminalError('validation_error', {
    message: `The messages have ${count} parts; a request can have ${MAX_ALL_PARTS}.`,
    hint: 'Send only the last messages: see prepareSendMessagesRequest of the transport.',
    details: { field: 'messages' },
  });
}

const partsOf = (message: unknown): number =>
  typeof message === 'object' && message !== null && 'parts' in message && Array.isArray(message.parts)
    ? message.parts.length
    : 0;

/** A message of the user: its id, and its text. */
export interface Said {
  readonly id: string;
  readonly text: string;
}

/** The message that the request ends with, if it is the user's. */
export function saidLast({ messages }: ChatRequest): Said | null {
  const last = messages.at(-1);
  return last === undefined || last.role !== 'user' ? null : { id: last.id, text: textOf(last) };
}

function textOf({ parts }: Message): string {
  const other = parts.find(({ type }) => type !== 'text' && !type.startsWith('data-'));
  if (other !== undefined) {
    throw new TerminalError('validation_error', {
      message: `A message of the user can have text parts; this one has a part of the type ${JSON.stringify(other.type)}.`,
      hint: 'Send text. Agents do not take files with a message.',
      details: { field: 'messages' },
    });
  }
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

/** What the page did with a part: the output of a tool, or the response to an approval. */
export interface Resolved {
  readonly by: 'output' | 'approval';
  readonly given: AnswerInput;
}

/** The results and responses in the messages, by the id of the tool call or of the approval. The last one counts. */
export function resolvedParts({ messages }: ChatRequest): ReadonlyMap<string, Resolved> {
  const found = new Map<string, Resolved>();
  for (const { role, parts } of messages) {
    if (role !== 'assistant') continue;
    for (const one of parts) {
      if (one.type !== 'dynamic-tool' && !one.type.startsWith('tool-')) continue;
      const output = outputOf(one);
      if (output !== null && typeof one.toolCallId === 'string') found.set(one.toolCallId, output);
      const approval = approvalOf(one);
      if (approval !== null) found.set(approval.id, approval);
    }
  }
  return found;
}

type Part = Message['parts'][number];

function outputOf({ state, output, errorText }: Part): Resolved | null {
  if (state === 'output-available') return { by: 'output', given: { value: asJson(output) } };
  if (state !== 'output-error') return null;
  const reason = typeof errorText === 'string' ? errorText.slice(0, MAX_REASON) : 'The tool failed.';
  return { by: 'output', given: { reject: true, reason } };
}

/** The body was parsed from JSON. A page that gives no output leaves it out. */
const asJson = (value: unknown): Json => (value === undefined ? null : (value as Json));

/** By hand: there may be thousands of parts. */
function approvalOf({ approval }: Part): (Resolved & { readonly id: string }) | null {
  if (typeof approval !== 'object' || approval === null || !('id' in approval && 'approved' in approval)) return null;
  const { id: approvalId, approved } = approval;
  if (typeof approvalId !== 'string' || typeof approved !== 'boolean') return null;
  if (approved) return { id: approvalId, by: 'approval', given: { value: true } };
  // Some questions take no other answer than yes.
  const said = 'reason' in approval && typeof approval.reason === 'string' ? approval.reason : '';
  const reason = said === '' ? {} : { reason: said.slice(0, MAX_REASON) };
  return { id: approvalId, by: 'approval', given: { reject: true, ...reason } };
}

/** The message that the request goes on with, and how far the page has read it; -1 when it does not say. */
export function continued({ messages }: ChatRequest): { readonly id: string; readonly cursor: number } | null {
  const last = messages.at(-1);
  if (last === undefined || last.role !== 'assistant') return null;
  const { success, data } = metadataShape.safeParse(last.metadata);
  return { id: last.id, cursor: success ? data.cursor : -1 };
}

const metadataShape = z.looseObject({ cursor: z.int().min(0) });
