/** The result of a step as it can be recorded: plain JSON without secrets that fits in an event, or an error. */
import { isCairnError, isJsonObject, type Json, type JsonObject, quoted, thrownText } from '@cairn/protocol';
import type { RunError, StepResult } from '../core/state.ts';
import type { Redactor } from '../ports.ts';
import { plainJsonCopy } from '../values/json-copy.ts';

/** Largest result of a step, as JSON text; a larger one does not fit in an event. */
const MAX_OUTCOME_LENGTH = 480 * 1024;

/** What JSON cannot carry is an error now, not a hole in the history later. */
export function recordable(step: string, outcome: unknown, redactor: Redactor | null): StepResult {
  try {
    const plain = plainJsonCopy(outcome ?? null);
    if (plain !== undefined) return { outcome: redactor === null ? plain : redactor.value(plain) };
    // JSON.stringify gives undefined for a function, whatever its type says.
    const text: string | undefined = JSON.stringify(outcome ?? null);
    if (text === undefined) return { error: unrecordable(step, `is a ${typeof outcome}, which is not JSON`) };
    if (text.length > MAX_OUTCOME_LENGTH) return { error: tooLarge(step, text.length) };
    // The run goes on with what is recorded, so that a resumed run equals the first: dates, undefined and the like are gone here.
    const parsed: Json = JSON.parse(text);
    const clean = redactor === null ? parsed : redactor.value(parsed);
    const length = clean === parsed ? text.length : JSON.stringify(clean).length;
    return length > MAX_OUTCOME_LENGTH ? { error: tooLarge(step, length) } : { outcome: clean };
  } catch (error) {
    const why = `is not JSON: ${thrownText(error)}`;
    return { error: unrecordable(step, redactor === null ? why : redactor.text(why)) };
  }
}

const unrecordable = (step: string, why: string): RunError => ({
  code: 'node_execution_failed',
  message: `The result of step ${step} ${why}.`,
  retryable: false,
});

const tooLarge = (step: string, length: number): RunError => ({
  code: 'event_too_large',
  message: `Step ${step} returned ${length} characters of JSON; at most ${MAX_OUTCOME_LENGTH} fit in an event. Return a reference instead.`,
  retryable: false,
});

/** An error that nobody classified may pass: it counts as retryable, within the node's retry settings. */
export function stepError(error: unknown, redactor: Redactor | null): RunError {
  const clean = (text: string): string => (redactor === null ? text : redactor.text(text));
  if (isCairnError(error)) {
    const known = { code: error.code, message: clean(error.message), retryable: error.retryable };
    const details = detailsOf(error.details, redactor);
    return details === undefined ? known : { ...known, details };
  }
  // Redacted before it is cut, because half a secret is not found.
  const message = quoted(clean(thrownText(error)), 2000);
  const code = codeOf(error);
  return {
    code: 'node_execution_failed',
    message: typeof code === 'string' ? `${message} (${quoted(clean(code), 60)})` : message,
    retryable: true,
  };
}

/** System errors have a code; reading it from what was thrown may itself throw. */
function codeOf(error: unknown): unknown {
  try {
    const isObject = typeof error === 'object' || typeof error === 'function';
    return isObject && error !== null && 'code' in error ? error.code : undefined;
  } catch {
    return undefined;
  }
}

/** Only what JSON can carry. */
function detailsOf(details: unknown, redactor: Redactor | null): JsonObject | undefined {
  if (details === undefined) return undefined;
  const plain = plainJsonCopy(details);
  if (!isJsonObject(plain)) return undefined;
  return redactor === null ? plain : redactor.value(plain);
}
