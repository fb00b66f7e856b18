/** Notices for operators without secrets in them, whoever takes them: text, facts, and errors with all that hangs on them. */
import type { Notice, Redactor, Report } from '../../engine/ports.ts';

/** Causes of causes are followed so far. */
const MAX_CAUSES = 16;

export function redactedReport(report: Report, redactor: Redactor): Report {
  return (notice) => {
    const { level, event, message } = notice;
    const { facts, error } = redactedParts(notice, redactor);
    report({
      level,
      event,
      ...(message === undefined ? {} : { message: redactor.text(message) }),
      ...(facts === undefined ? {} : { facts }),
      ...(error === undefined ? {} : { error }),
    });
  };
}

type Facts = Notice['facts'];

interface Parts {
  readonly facts?: Facts | undefined;
  readonly error?: unknown;
}

function redactedParts({ facts, error }: Parts, redactor: Redactor): Parts {
  try {
    return {
      facts: facts === undefined ? undefined : (redacted(facts, redactor, 0) as Facts),
      error: redacted(error, redactor, 0),
    };
  } catch {
    // What cannot be looked through (it goes round in a circle, it throws) is not shown.
    return { facts: { unchecked: 'The particulars could not be checked for secrets.' } };
  }
}

/** The same value when it holds no secret. */
function redacted(value: unknown, redactor: Redactor, causes: number): unknown {
  if (value instanceof Error) return causes > MAX_CAUSES ? undefined : redactedError(value, redactor, causes);
  if (Array.isArray(value)) {
    const items = value.map((item) => redacted(item, redactor, causes + 1));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return redactor.value(value);
  }
  const given = Object.entries(value);
  const clean = given.map(([key, item]) => [redactor.text(key), redacted(item, redactor, causes + 1)] as const);
  const isSame = clean.every(([key, item], i) => key === given[i]?.[0] && item === given[i]?.[1]);
  return isSame ? value : Object.fromEntries(clean);
}

/** A copy of the same kind of error. */
function redactedError(error: Error, redactor: Redactor, causes: number): Error {
  const own = error as unknown as Readonly<Record<PropertyKey, unknown>>;
  const names = Reflect.ownKeys(error);
  const clean = names.map((name) => redacted(own[name], redactor, causes + 1));
  if (clean.every((value, i) => value === own[names[i] as PropertyKey])) return error;
  const copy = Object.create(Object.getPrototypeOf(error) as object) as Error;
  for (const [i, name] of names.entries()) Object.defineProperty(copy, name, { value: clean[i] });
  return copy;
}
