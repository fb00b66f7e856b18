/** Turns unknown values into typed ones at the edges, or says what is wrong with them by path. */
import type { z } from 'zod';
import type { DataOf } from './data-of.ts';
import { TerminalError } from './errors.ts';

/** Most problems that one refusal lists. */
const MAX_PROBLEMS = 20;

/** The typed value, or `validation_error` with every problem by its path. `what` begins the message: "The answer". */
export function parseShape<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): DataOf<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data as DataOf<Schema>;
  const problems = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    problem: issue.message,
  }));
  const [first] = problems;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  throw new TerminalError('validation_error', {
    message: `${what} is not valid: ${where}${first?.problem ?? 'unknown problem'}.`,
    hint: 'Correct what details.problems lists and send it again.',
    details: { problems: problems.slice(0, MAX_PROBLEMS) },
  });
}
