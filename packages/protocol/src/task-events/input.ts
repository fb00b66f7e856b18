/** Task events of questions and their answers. */
import { z } from 'zod';
import { taskEventOf } from './envelope.ts';

const input = { inputId: z.string() };

const inputTypes = ['tool-execution', 'confirmation', 'clarification', 'selection', 'custom', 'data'] as const;

export const inputRequired = taskEventOf('input-required', {
  ...input,
  requireUser: z.boolean().optional(),
  inputType: z.enum(inputTypes),
  prompt: z.string(),
  schema: z.union([z.looseObject({}), z.boolean()]).optional(),
  options: z.array(z.unknown()).optional(),
  toolCallId: z.string().optional(),
  expiresAt: z.iso.datetime().optional(),
});

export const inputReceived = taskEventOf('input-received', {
  ...input,
  providedBy: z.enum(['user', 'agent']),
  userId: z.string().optional(),
}).refine(({ userId, agentId }) => (userId === undefined) !== (agentId === undefined), {
  message: 'exactly one of userId and agentId says who answered',
});

/** A coordinator left the question to the user, who may now be asked. */
export const inputForwarded = taskEventOf('input-forwarded', input);
