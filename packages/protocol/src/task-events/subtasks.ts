/** The task event of a subtask, on its parent's task. */
import { z } from 'zod';
import { taskEventOf } from './envelope.ts';

export const subtaskCreated = taskEventOf('subtask-created', {
  subtaskId: z.string(),
  prompt: z.string(),
  toolCallId: z.string().optional(),
});
