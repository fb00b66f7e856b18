/** RunOptions: what a caller may set for one run, fixed when it is created. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { jsonObject, ordinal, share, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';

/** How much of an agent's reasoning is shown. */
export const reasoningVerbosities = ['summary', 'full', 'off'] as const;

/** The keys of `configurable` that the wire reserves; others pass through for the host and the workflow to check. */
export const configurable = z
  .looseObject({
    recursionLimit: ordinal.optional().describe("Ceiling on node executions; the host's own ceiling still holds."),
    runTimeoutMs: z
      .int()
      .min(1)
      .optional()
      .describe("Milliseconds from `run.started`; the host's own ceiling still holds."),
    maxLoopIterations: ordinal.optional().describe('Ceiling on supervisor turns.'),
    escalationThreshold: share.optional(),
    reasoningVerbosity: z.enum(reasoningVerbosities).optional(),
    model: text.optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxTokens: ordinal.optional(),
    'ai.provider': text.optional(),
    'ai.model': text.optional(),
    'ai.credentialRef': text.optional(),
    ai: z
      .looseObject({ provider: text.optional(), model: text.optional(), credentialRef: text.optional() })
      .optional()
      .describe('The three options above, nested.'),
    promptOverrides: z.record(z.string(), z.string()).optional(),
    mockProvider: z.strictObject({ id: text.max(128), config: jsonObject.optional() }).optional(),
    budget: jsonObject.optional(),
    'distillation.tokenBudget': z.number().optional(),
    'cairn.contextId': text
      .max(MAX_ID_LENGTH)
      .optional()
      .describe('Cairn: puts the run into this context, so that its agents know what was said there.'),
  })
  .meta({ id: 'Configurable' });

/** Most labels a run may carry, and the longest of them. */
export const MAX_TAGS = 100;
export const MAX_TAG_LENGTH = 256;

const tags = z.array(text.max(MAX_TAG_LENGTH)).max(MAX_TAGS);

export const runOptions = z
  .looseObject({
    configurable: configurable.optional(),
    tags: tags.optional().describe('Labels to find the run by.'),
    metadata: jsonObject.optional().describe('Facts to keep with the run; nodes do not see them.'),
  })
  .meta({ id: 'RunOptions' });

export type Configurable = DataOf<typeof configurable>;
export type RunOptions = DataOf<typeof runOptions>;
