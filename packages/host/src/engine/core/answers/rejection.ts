/** Rejections of questions: the node or tool that asked continues without an answer. */
import { type InterruptView, isJsonObject, type Json } from '@cairn/protocol';
import type { SentAnswer } from '../../workflow/driven-calls.ts';
import { resolveDrafts } from '../interrupts.ts';
import type { Draft } from '../state.ts';
import { refuseProblems } from './refuse-answer.ts';

/** Longest reason of a rejection. */
const MAX_FEEDBACK = 2_000;

/** Null if the question is answered, and not rejected. */
export function rejectionDrafts(interrupt: InterruptView, { value, principal, now }: SentAnswer): Draft[] | null {
  const { nodeId, interruptId, kind, seq: cause } = interrupt;
  if (kind !== 'clarification' || !isJsonObject(value) || value.action !== 'reject') return null;
  if (value.answers !== undefined) return null;
  const { feedback } = value;
  const isText = feedback === undefined || (typeof feedback === 'string' && feedback.length <= MAX_FEEDBACK);
  refuseProblems(interruptId, isText ? [] : [`feedback is a text of at most ${MAX_FEEDBACK} characters`]);
  const given: Json = { action: 'reject', ...(feedback !== undefined && { feedback }) };
  const by = principal ?? null;
  return resolveDrafts({ nodeId, interruptId, kind, cause, at: now, value: given, by, outcome: 'rejected' }, null);
}

/** What the asker is told. */
export function rejectedError(value: Json) {
  const reason = reasonIn(value);
  const message = reason === undefined ? 'The question was rejected.' : `The question was rejected: ${reason}`;
  return { code: 'input_rejected' as const, message, retryable: false };
}

/** What the person said who rejected a question; undefined if it was nothing. */
export const reasonIn = (value: Json): string | undefined =>
  isJsonObject(value) && typeof value.feedback === 'string' && value.feedback !== '' ? value.feedback : undefined;
