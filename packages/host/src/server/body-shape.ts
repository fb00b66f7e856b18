/** Checks a parsed body against the wire's shape and names what is wrong with it. */
import { TerminalError } from '@cairn/protocol';
import type { z } from 'zod';

/** The typed body, or `validation_error` with every problem by its path. */
export function parseShape<Shape>(shape: z.ZodType<Shape>, body: unknown, what: string): Shape {
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    problem: issue.message,
  }));
  const first = problems[0];
  throw new TerminalError('validation_error', {
    message: `${what} is not valid: ${first?.path ? `${first.path}: ` : ''}${first?.problem ?? 'unknown problem'}.`,
    details: { problems: problems.slice(0, 20) },
  });
}
