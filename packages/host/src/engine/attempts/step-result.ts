/** Makes the result of a step recordable: plain JSON without secrets that fits in an event, or an error. */
import { isCairnError, isJsonObject, type Json, type JsonObject, quoted, thrownText } from '@cairn/protocol';
import type { RunError, StepResult } from '../core/state.ts';
import type { Redactor } from '../ports.ts';
import { plainJsonCopy } from '../values/json-copy.ts';
import { lostPart } from '../values/lost-part.ts';

/** Maximum length of a step's result as JSON text; a longer one does not fit in an event. */
const MAX_OUTCOME_LENGTH = 480 * 1024;

/** The result of most steps. Null for one that is large or not plain JSON: making that recordable takes longer. */
export function smallResult(outcome: unknown, redactor: Redactor | null): StepResult | null {
  try {
    const plain = plainJsonCopy(outcome ?? null);
    if (plain === undefined) return null;
    return { outcome: redactor === null ? plain : redactor.value(plain) };
  } catch {
    // Serialising it fails again, and says why.
    return null;
  }
}

/** A result that JSON cannot represent becomes an error now instead of a gap in the history later. */
export function recordable(step: string, outcome: unknown, redactor: Redactor | null): StepResult {
  try {
    // Finds cycles and endless values. Undefined for a function, although its type says otherwise.
    const text: string | undefined = JSON.stringify(outcome ?? null);
    if (text !== undefined && text.length > MAX_OUTCOME_LENGTH) return { error: tooLarge(step, text.length) };
    const lost = lostPart(outcome ?? null);
    if (lost !== null) return { error: unrecordable(step, redactor?.text(lost) ?? lost) };
    // The run continues with the recorded JSON, so that a resumed run sees the same values. Dates and undefined are
    // converted here.
    const parsed: Json = JSON.parse(text);
    const clean = redactor === null ? parsed : redactor.value(parsed);
    const length = clean === parsed ? text.length : JSON.stringify(clean).length;
    return length > MAX_OUTCOME_LENGTH ? { error: tooLarge(step, length) } : { outcome: clean };
  } catch (error) {
    const why = `it is not JSON: ${thrownText(error).replace(/\s*\n\s*/g, ' ')}`;
    return { error: unrecordable(step, redactor === null ? why : redactor.text(why)) };
  }
}

const unrecordable = (step: string, why: string): RunError => ({
  code: 'node_execution_failed',
  message: `The result of step ${step} cannot be recorded: ${why}.`,
  retryable: false,
});

const tooLarge = (step: string, length: number): RunError => ({
  code: 'event_too_large',
  message: `Step ${step} returned ${length} characters of JSON; at most ${MAX_OUTCOME_LENGTH} fit in an event. Return a reference instead.`,
  retryable: false,
});

/**
 * Turns a thrown error into a recordable one. An unclassified error counts as retryable, within the node's retry
 * settings.
 */
export function stepError(error: unknown, redactor: Redactor | null): RunError {
  const clean = (text: string): string => (redactor === null ? text : redactor.text(text));
  if (isCairnError(error)) {
    const known = { code: error.code, message: clean(error.message), retryable: error.retryable };
    const details = detailsOf(error.details, redactor);
    return details === undefined ? known : { ...known, details };
  }
  // Redact before truncating, because the redactor does not recognise a partial secret.
  const message = quoted(clean(thrownText(error)), 2000);
  const code = codeOf(error);
  return {
    code: 'node_execution_failed',
    message: typeof code === 'string' ? `${message} (${quoted(clean(code), 60)})` : message,
    retryable: true,
  };
}

/** Reads the code that system errors have. Reading it from a thrown value may itself throw. */
function codeOf(error: unknown): unknown {
  try {
    const isObject = typeof error === 'object' || typeof error === 'function';
    return isObject && error !== null && 'code' in error ? error.code : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the details if they are a plain JSON object. */
function detailsOf(details: unknown, redactor: Redactor | null): JsonObject | undefined {
  if (details === undefined) return undefined;
  const plain = plainJsonCopy(details);
  if (!isJsonObject(plain)) return undefined;
  return redactor === null ? plain : redactor.value(plain);
}
