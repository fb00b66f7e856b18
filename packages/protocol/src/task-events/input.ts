/** Task events of questions and their answers. */
import { z } from 'zod';
import { urgencies } from '../interrupts/interrupts.ts';
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
  metadata: z
    .looseObject({
      urgency: z.enum(urgencies).optional(),
      toolCall: z.unknown().optional(),
      /** In seconds. */
      timeout: z.number().min(0).optional(),
    })
    .optional(),
});

export const inputReceived = taskEventOf('input-received', {
  ...input,
  providedBy: z.enum(['user', 'agent']),
  userId: z.string().optional(),
  metadata: z
    .looseObject({
      /** Absent: answered. */
      outcome: z.enum(['answered', 'rejected', 'timeout', 'canceled']).optional(),
      /** Milliseconds from the question to its end. */
      duration: z.number().min(0).optional(),
    })
    .optional(),
}).refine(({ userId, agentId }) => (userId === undefined) !== (agentId === undefined), {
  message: 'exactly one of userId and agentId says who answered',
});

/** A coordinator left the question to the user, who may now be asked. */
export const inputForwarded = taskEventOf('input-forwarded', input);
