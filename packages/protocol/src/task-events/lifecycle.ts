/** Task events of a task's life: it begins, changes its status, and ends. */
import { z } from 'zod';
import { taskStatuses } from '../events/cairn.ts';
import { errorInfoShape, taskEventOf } from './envelope.ts';

const pending = z.looseObject({ type: z.enum(['input', 'auth', 'subtask']), id: z.string() });

export const taskCreated = taskEventOf('task-created', {
  initiator: z.enum(['user', 'agent']),
  metadata: z
    .looseObject({
      agentId: z.string().optional(),
      model: z.string().optional(),
      message: z.looseObject({ role: z.string(), content: z.string(), messageId: z.string().optional() }).optional(),
      retryOf: z.string().optional(),
      toolCallId: z.string().optional(),
    })
    .optional(),
});

export const taskStatusEvent = taskEventOf('task-status', {
  status: z.enum(taskStatuses),
  message: z.string().optional(),
  metadata: z
    .looseObject({
      reason: z.string().optional(),
      blockedBy: z.string().optional(),
      pending: z.array(pending).optional(),
    })
    .optional(),
  error: errorInfoShape.optional(),
});

export const taskComplete = taskEventOf('task-complete', {
  content: z.string().optional(),
  artifacts: z.array(z.string()).optional(),
  metadata: z
    .looseObject({
      duration: z.number().min(0).optional(),
      activeMs: z.number().min(0).optional(),
      iterations: z.number().optional(),
      tokensUsed: z.number().optional(),
    })
    .optional(),
});
