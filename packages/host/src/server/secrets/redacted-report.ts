/** Removes secrets from operator notices before any sink gets them: text, facts, and errors with their causes. */
import type { OperatorNotice, Redactor, Report } from '../../engine/ports.ts';

/** Errors nested deeper than this are dropped. */
const MAX_CAUSES = 16;

export function redactedReport(report: Report, redactor: Redactor): Report {
  return (notice) => {
    const { level, event, message } = notice;
    const text = message === undefined ? {} : { message: redactor.text(message) };
    report({ level, event, ...text, ...redactedFacts(notice, redactor) });
  };
}

function redactedFacts(
  { facts, error }: Pick<OperatorNotice, 'facts' | 'error'>,
  redactor: Redactor,
): Pick<OperatorNotice, 'facts' | 'error'> {
  try {
    return {
      ...(facts === undefined ? {} : { facts: redactedRecord(facts, redactor, 0) }),
      ...(error === undefined ? {} : { error: redacted(error, redactor, 0) }),
    };
  } catch {
    // A value that cannot be inspected (a cycle, a throwing getter) is not shown.
    return { facts: { unchecked: 'The particulars could not be checked for secrets.' } };
  }
}

/** Returns the same value when it contains no secret. */
function redacted(value: unknown, redactor: Redactor, causes: number): unknown {
  if (value instanceof Error) return causes > MAX_CAUSES ? undefined : redactedError(value, redactor, causes);
  if (Array.isArray(value)) {
    const items = value.map((item) => redacted(item, redactor, causes + 1));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  return isRecord(value) ? redactedRecord(value, redactor, causes) : redactor.value(value);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function redactedRecord(
  record: Readonly<Record<string, unknown>>,
  redactor: Redactor,
  causes: number,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(record);
  const clean = given.map(([key, item]) => [redactor.text(key), redacted(item, redactor, causes + 1)] as const);
  const isSame = clean.every(([key, item], i) => key === given[i]?.[0] && item === given[i]?.[1]);
  return isSame ? record : Object.fromEntries(clean);
}

/** A copy of the same kind of error. */
function redactedError(error: Error, redactor: Redactor, causes: number): Error {
  const given = Reflect.ownKeys(error).map((name): readonly [PropertyKey, unknown] => [name, Reflect.get(error, name)]);
  const clean = given.map(([name, value]) => [name, redacted(value, redactor, causes + 1)] as const);
  if (clean.every(([, value], i) => value === given[i]?.[1])) return error;
  const copy: Error = Object.create(Object.getPrototypeOf(error));
  for (const [name, value] of clean) Object.defineProperty(copy, name, { value });
  return copy;
}
