/** Parses unknown values at the edges, and reports problems by path. */
import type { z } from 'zod';
import type { DataOf } from './data-of.ts';
import { TerminalError } from './errors.ts';

/** Maximum number of problems in one error. */
const MAX_PROBLEMS = 20;

/** Problems in its message, for readers who do not see the details. */
const SHOWN_PROBLEMS = 4;

/** Characters of one problem, and of one path. Names of data may have half a megabyte, and be thousands. */
const MAX_TEXT = 300;

/** Returns the typed value, or throws `validation_error` with its problems by path. `what` starts the message: "The answer". */
export function parseShape<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): DataOf<Schema> {
  const result = schema.safeParse(value, { error: unknownNames });
  if (result.success) return result.data as DataOf<Schema>;
  const { issues } = result.error;
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => ({
    path: cut(issue.path.map(String).join('.')),
    problem: cut(problemOf(issue.message, value, issue.path)),
  }));
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ path, problem }) => (path === '' ? problem : `${path}: ${problem}`));
  const rest = issues.length > SHOWN_PROBLEMS ? `; and ${issues.length - SHOWN_PROBLEMS} more` : '';
  throw new TerminalError('validation_error', {
    message: `${what} is not valid: ${shown.join('; ')}${rest}.`,
    hint: 'Correct what details.problems lists and send it again.',
    details: { problems },
  });
}

const cut = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`);

/** Names of members that a problem lists. */
const SHOWN_NAMES = 5;

/** The library would make one text of all unknown names. Undefined leaves a problem to the library. */
function unknownNames(issue: { readonly code?: string; readonly keys?: unknown }): string | undefined {
  if (issue.code !== 'unrecognized_keys' || !Array.isArray(issue.keys)) return undefined;
  const names = issue.keys.slice(0, SHOWN_NAMES).map((name) => `"${cut(String(name))}"`);
  const more = issue.keys.length - names.length;
  return `Unrecognized key${issue.keys.length > 1 ? 's' : ''}: ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** A schema says what it expects, also where there is nothing. */
function problemOf(message: string, value: unknown, path: readonly PropertyKey[]): string {
  if (!message.startsWith('Invalid input')) return message;
  let given = value;
  for (const key of path) given = typeof given === 'object' && given !== null ? Reflect.get(given, key) : undefined;
  return given === undefined ? 'is missing' : message;
}
