/** Task events of problems that do not end a task, and of what model calls cost. */
import { z } from 'zod';
import { errorInfoShape, taskEventOf } from './envelope.ts';

export const errorEvent = taskEventOf('error', {
  ...errorInfoShape.shape,
  scope: z.enum(['task', 'llm', 'tool', 'input', 'auth', 'artifact', 'subtask']),
  refId: z.string().optional(),
  attempt: z.int().min(0).optional(),
  retryAfterMs: z.number().min(0).optional(),
});

const tokens = z.int().min(0).optional();

export const llmUsage = taskEventOf('llm-usage', {
  model: z.string(),
  inputTokens: tokens,
  outputTokens: tokens,
  totalTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  iteration: z.int().min(0).optional(),
});
