/** Parses unknown values at the edges, and reports problems by path. */
import type { z } from 'zod';
import type { DataOf } from './data-of.ts';
import { TerminalError } from './errors.ts';

/** Maximum number of problems in one error. */
const MAX_PROBLEMS = 20;

/** Problems in its message, for readers who do not see the details. */
const SHOWN_PROBLEMS = 4;

/** Returns the typed value, or throws `validation_error` with its problems by path. `what` starts the message: "The answer". */
export function parseShape<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): DataOf<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data as DataOf<Schema>;
  const problems = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    problem: problemOf(issue.message, value, issue.path),
  }));
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ path, problem }) => (path === '' ? problem : `${path}: ${problem}`));
  const rest = problems.length > SHOWN_PROBLEMS ? `; and ${problems.length - SHOWN_PROBLEMS} more` : '';
  throw new TerminalError('validation_error', {
    message: `${what} is not valid: ${shown.join('; ')}${rest}.`,
    hint: 'Correct what details.problems lists and send it again.',
    details: { problems: problems.slice(0, MAX_PROBLEMS) },
  });
}

/** A schema says what it expects, also where there is nothing. */
function problemOf(message: string, value: unknown, path: readonly PropertyKey[]): string {
  if (!message.startsWith('Invalid input')) return message;
  let given = value;
  for (const key of path) given = typeof given === 'object' && given !== null ? Reflect.get(given, key) : undefined;
  return given === undefined ? 'is missing' : message;
}
