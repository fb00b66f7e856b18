/** Task events of tool calls. */
import { z } from 'zod';
import { errorInfoShape, taskEventOf } from './envelope.ts';

const call = { toolCallId: z.string() };

export const toolStart = taskEventOf('tool-start', {
  ...call,
  toolName: z.string(),
  arguments: z.looseObject({}),
  icon: z.string().optional(),
  metadata: z
    .looseObject({
      provider: z.string().optional(),
      concurrent: z.boolean().optional(),
      cancelable: z.boolean().optional(),
      attempt: z.int().min(1).optional(),
    })
    .optional(),
});

export const toolProgress = taskEventOf('tool-progress', {
  ...call,
  progress: z.number().min(0).max(1),
  message: z.string().optional(),
});

export const toolComplete = taskEventOf('tool-complete', {
  ...call,
  toolName: z.string(),
  success: z.boolean(),
  result: z.unknown().optional(),
  error: z.string().optional(),
  errorInfo: errorInfoShape.optional(),
  icon: z.string().optional(),
});
