/** What a caller on another host lets the run that it calls use. It can only make the budget of that run smaller. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count } from '../fields.ts';

/** Limits as in `configurable.budget`. Nothing may be left of each. */
export const callBudget = z.strictObject({
  maxTokens: count.optional(),
  maxCostUsd: z.number().min(0).optional(),
  maxToolCalls: count.optional(),
  maxRuns: count.optional(),
});
export type CallBudget = DataOf<typeof callBudget>;

/** Its key in `_meta` of an MCP request, and in the metadata of an A2A message. */
export const BUDGET_KEY = 'cairn.budget';
