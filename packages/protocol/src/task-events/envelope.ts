/** What every task event carries, and the error object of the task view. */
import { z } from 'zod';

export const errorInfoShape = z.looseObject({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  details: z.looseObject({}).optional(),
});

const metadata = z.looseObject({});

/** Readers ignore fields they do not know. */
const envelope = {
  contextId: z.string(),
  taskId: z.string(),
  timestamp: z.iso.datetime(),
  cursor: z.int().min(1),
  eventId: z.string(),
  parentTaskId: z.string().optional(),
  agentId: z.string().optional(),
  path: z.array(z.string()).optional(),
  metadata: metadata.optional(),
};

/** The shape of one kind: the envelope and its own fields. */
export const taskEventOf = <const Kind extends string, const Fields extends z.ZodRawShape>(
  kind: Kind,
  fields: Fields,
) => z.looseObject({ kind: z.literal(kind), ...envelope, ...fields });

/** A chunk number, contiguous from 0. */
export const place = z.int().min(0);
