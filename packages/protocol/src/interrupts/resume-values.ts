/** Parses answers to interrupts, and converts older forms to the one that is recorded. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { json, jsonObject, text } from '../fields.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { parseShape } from '../parse.ts';
import type { ApprovalAction } from './interrupts.ts';

export const refineFeedback = z.looseObject({
  scope: z.enum(['whole', 'section', 'items']),
  sectionPath: z.string().optional(),
  itemIds: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
  text: z.string().optional(),
});

const decided = { feedback: z.string().optional(), decidedBy: text.optional(), decidedAt: text.optional() };

/** The actions that settle a gate; `ask` is never an answer. */
export const approvalAnswer = z
  .discriminatedUnion('action', [
    z.looseObject({ action: z.literal('accept'), ...decided }),
    z.looseObject({ action: z.literal('reject'), ...decided }),
    z.looseObject({ action: z.literal('refine'), refineFeedback, ...decided }),
    z.looseObject({ action: z.literal('edit-accept'), editedArtifactData: json, ...decided }),
  ])
  .meta({ id: 'ApprovalAnswer' });

/** Answers by question id. */
export const clarificationAnswer = z.looseObject({ answers: jsonObject }).meta({ id: 'ClarificationAnswer' });

export const externalAnswer = z.looseObject({ eventPayload: json }).meta({ id: 'ExternalAnswer' });

export type ApprovalAnswer = DataOf<typeof approvalAnswer>;
export type ClarificationAnswer = DataOf<typeof clarificationAnswer>;
export type ExternalAnswer = DataOf<typeof externalAnswer>;

/**
 * Parses an answer to an approval. Older clients send `decision: approved | rejected`, or `edit` for `edit-accept`. A rejection
 * with feedback becomes a refinement if the gate offers one.
 */
export function parseApprovalAnswer(value: Json, offered: readonly ApprovalAction[]): ApprovalAnswer {
  return parseShape(approvalAnswer, isJsonObject(value) ? currentForm(value, offered) : value, 'The answer');
}

/** An answer to a clarification: a map by question id, or the older list of `{ id, answer }`. */
export function parseClarificationAnswer(value: Json): ClarificationAnswer {
  const listed =
    isJsonObject(value) && Array.isArray(value.answers) ? { ...value, answers: byId(value.answers) } : value;
  return parseShape(clarificationAnswer, listed, 'The answer');
}

/** An external event: `{ eventPayload }` and nothing else, or the bare payload. */
export const parseExternalAnswer = (value: Json): ExternalAnswer =>
  isJsonObject(value) && Object.keys(value).length === 1 && value.eventPayload !== undefined
    ? { eventPayload: value.eventPayload }
    : { eventPayload: value };

function currentForm(value: JsonObject, offered: readonly ApprovalAction[]): JsonObject {
  const { decision, ...rest } = value;
  if (rest.action === 'edit') return { ...value, action: 'edit-accept' };
  if (rest.action !== undefined) return value;
  if (decision === 'approved') return { ...rest, action: 'accept' };
  if (decision !== 'rejected') return value;
  const { feedback, ...others } = rest;
  if (typeof feedback !== 'string' || feedback === '' || !offered.includes('refine'))
    return { ...rest, action: 'reject' };
  return { ...others, action: 'refine', refineFeedback: { scope: 'whole', text: feedback } };
}

/** Null if an item is not `{ id, answer }`: the schema then reports the problem. */
function byId(items: readonly Json[]): JsonObject | null {
  const entries: [string, Json][] = [];
  for (const item of items) {
    if (!isJsonObject(item) || typeof item.id !== 'string' || item.answer === undefined) return null;
    entries.push([item.id, item.answer]);
  }
  return Object.fromEntries(entries);
}
