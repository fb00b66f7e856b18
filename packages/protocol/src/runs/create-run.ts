/** The body of `POST /v1/runs` (closed) and its answer. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { instant, jsonObject, text } from '../fields.ts';
import { runOptions } from './run-options.ts';

export const createRun = z
  .strictObject({
    workflowId: text.optional().describe('The workflow to run; needed unless `agentId` is given.'),
    inputs: jsonObject.optional().describe("Seeds the workflow's variables."),
    agentId: text.optional().describe('Runs one agent without a workflow.'),
    tenantId: z.string().optional().describe('Advisory: the tenant of record comes from the credential.'),
    scopeId: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('What the run works on; with `X-Dedup: enforce` one run of it at a time.'),
    callbackUrl: z.url().optional().describe('Is told, with a token to answer by, when the run waits for somebody.'),
    residency: jsonObject.optional(),
    mode: z.string().optional(),
    evalSuiteRef: z.string().optional(),
    ...runOptions.shape,
  })
  .refine((body) => body.workflowId !== undefined || body.agentId !== undefined || body.mode === 'eval', {
    message: 'workflowId is required',
    path: ['workflowId'],
  })
  .meta({ id: 'CreateRun', examples: [{ workflowId: 'hello', inputs: { name: 'Ada' } }] });

export const runCreated = z
  .looseObject({
    runId: text,
    status: z.enum(['pending', 'running', 'waiting-approval', 'waiting-input', 'waiting-external']),
    eventsUrl: text,
    statusUrl: text.optional(),
    workflowId: text.optional(),
    /** The context of the run. */
    contextId: text.optional(),
    startedAt: instant.optional(),
  })
  .meta({ id: 'RunCreated' });

export type CreateRun = DataOf<typeof createRun>;
export type RunCreated = DataOf<typeof runCreated>;
