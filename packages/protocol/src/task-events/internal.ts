/** Task events for operators alone. */
import { z } from 'zod';
import { taskEventOf } from './envelope.ts';

const iteration = { iteration: z.int() };

export const internalThought = taskEventOf('internal:thought-process', {
  ...iteration,
  stage: z.enum(['pre-llm', 'post-llm', 'pre-tool', 'post-tool']),
  reasoning: z.string(),
  state: z.looseObject({}),
});

export const internalModelCall = taskEventOf('internal:llm-call', {
  ...iteration,
  model: z.string(),
  messageCount: z.int(),
  toolCount: z.int(),
});

export const internalCheckpoint = taskEventOf('internal:checkpoint', iteration);
