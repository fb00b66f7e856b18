/** The configuration of retention. */
import { z } from 'zod';
import { name } from './fields.ts';

const MAX_RULES = 1_000;
const MAX_DAYS = 36_500;

const ruleSchema = z
  .strictObject({
    tenant: name.optional().describe('The tenant whose runs the rule is for. Default: all tenants.'),
    workflow: name.optional().describe('The workflow whose runs the rule is for. Default: all workflows.'),
    afterDays: z
      .number()
      .min(0)
      .max(MAX_DAYS)
      .optional()
      .describe('Days after the end of the root run at which its tree goes. A fraction is allowed.'),
    keepLast: z
      .int()
      .min(0)
      .optional()
      .describe('How many ended trees stay of each tenant and workflow: the newest. Older ones go at once.'),
  })
  .refine(({ afterDays, keepLast }) => afterDays !== undefined || keepLast !== undefined, {
    message: 'must have afterDays, keepLast or both',
  });

export const retentionSchema = z.array(ruleSchema).max(MAX_RULES);
