/** Task events of thoughts: one whole thought each. */
import { z } from 'zod';
import { place, taskEventOf } from './envelope.ts';
import { verbosityLevels } from './kinds.ts';

export const thoughtStream = taskEventOf('thought-stream', {
  thoughtId: z.string(),
  /** Readers show a type that they do not know as `reasoning`. */
  thoughtType: z.string(),
  verbosity: z.enum(verbosityLevels),
  content: z.string(),
  index: place,
  visibility: z.enum(['client', 'operator']).optional(),
  metadata: z
    .looseObject({
      confidence: z.number().min(0).max(1).optional(),
      alternatives: z.array(z.string()).optional(),
      relatedTo: z.string().optional(),
    })
    .optional(),
});
