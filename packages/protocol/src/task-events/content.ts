/** Task events of streamed text: the pieces of a block, and the whole. */
import { z } from 'zod';
import { place, taskEventOf } from './envelope.ts';

export const contentDelta = taskEventOf('content-delta', {
  delta: z.string(),
  index: place,
  contentId: z.string().optional(),
});

export const contentComplete = taskEventOf('content-complete', {
  content: z.string(),
  contentId: z.string().optional(),
  finishReason: z.string().optional(),
  toolCalls: z.array(z.looseObject({ id: z.string() })).optional(),
  metadata: z
    .looseObject({
      /** The content is only the beginning of the text. The artifact, if there is one, holds all of it as JSON. */
      truncated: z.boolean().optional(),
      artifact: z.looseObject({ artifactId: z.string() }).optional(),
    })
    .optional(),
});
