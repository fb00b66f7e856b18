/** Request and response bodies of the run routes (cancel, pause, resume, answer, list) and of workflow registration. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { errorEnvelope } from '../error-envelope.ts';
import { drainPolicies } from '../events/run.ts';
import { instant, json, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';
import { runSnapshotSchema } from './run-snapshot.ts';
import { runStatuses } from './run-status.ts';

const status = z.enum(runStatuses);

/** `POST /v1/runs/{runId}/cancel`. */
export const cancelRun = z.strictObject({ reason: z.string().max(512).optional() }).meta({ id: 'CancelRun' });
export const runCancelled = z.looseObject({ runId: text, status }).meta({ id: 'RunCancelled' });

/** `DELETE /v1/runs/{runId}`: what was purged, or would be. */
export const runPurged = z
  .looseObject({
    runId: text,
    purged: z.boolean().describe('False for a dry run, and while the rest goes in the background.'),
    purgedAt: z.iso.datetime().optional(),
    runs: z.int().min(0).describe('The run itself and the runs below it.'),
    events: z.int().min(0),
    bytes: z.int().min(0).describe('As `limits.tenantLogBytes` counts them.'),
    forks: z.array(text).describe('Runs that share events of the tree, the first ten.'),
  })
  .meta({ id: 'RunPurged' });

/** `GET /v1/host/cairn/retention`: the rules for the caller's tenant, and the root runs that would go now. */
export const retentionPlan = z
  .looseObject({
    rules: z.array(
      z.looseObject({
        tenant: text.optional(),
        workflow: text.optional(),
        afterDays: z.number().optional(),
        keepLast: z.int().optional(),
      }),
    ),
    runs: z.array(z.looseObject({ runId: text, workflowId: text, completedAt: z.iso.datetime().optional() })),
    truncated: z.boolean().describe('Whether more runs would go than are listed.'),
  })
  .meta({ id: 'RetentionPlan' });

/** Maximum number of runs in one request. */
export const MAX_BULK_CANCEL = 100;

/** `POST /v1/runs:bulk-cancel` (closed). One row of the answer for each id, in the order of the request. */
export const bulkCancelRuns = z
  .strictObject({
    runIds: z.array(z.string().min(1).max(MAX_ID_LENGTH)).min(1).max(MAX_BULK_CANCEL),
    reason: z.string().max(512).optional(),
  })
  .meta({ id: 'BulkCancelRuns', examples: [{ runIds: ['run_1', 'run_2'] }] });
export const runsCancelled = z
  .looseObject({
    results: z.array(
      z.looseObject({
        runId: z.string(),
        ok: z.boolean(),
        status: status.optional(),
        error: errorEnvelope.optional(),
      }),
    ),
  })
  .meta({ id: 'RunsCancelled' });

/** `POST /v1/runs/{runId}:pause` (closed). The instant is there once the pause has taken effect. */
export const pauseRun = z
  .strictObject({ reason: z.string().max(512).optional(), drainPolicy: z.enum(drainPolicies).optional() })
  .meta({ id: 'PauseRun' });
export const runPaused = z
  .looseObject({ runId: text, status: z.literal('paused'), pausedAt: instant.optional() })
  .meta({ id: 'RunPaused' });

/** `POST /v1/runs/{runId}:resume` (closed). */
export const resumeRun = z.strictObject({ reason: z.string().max(512).optional() }).meta({ id: 'ResumeRun' });
export const runResumed = z
  .looseObject({ runId: text, status: z.literal('running'), resumedAt: instant.optional() })
  .meta({ id: 'RunResumed' });

/** `POST /v1/runs/{runId}/interrupts/{nodeId}` (closed). The value must be there; null is a value. */
export const answerInterrupt = z
  .strictObject({ resumeValue: json })
  .meta({ id: 'AnswerInterrupt', examples: [{ resumeValue: { action: 'accept' } }] });
export const interruptAnswered = z.looseObject({ runId: text, nodeId: text, status }).meta({ id: 'InterruptAnswered' });

/** `GET /v1/runs`, newest first. */
export const runList = z
  .looseObject({ runs: z.array(runSnapshotSchema), nextCursor: text.nullable() })
  .meta({ id: 'RunList' });

/** `GET /v1/host/cairn/run-changes`: entries as in a RunList, in no order. Name the position in the next request. */
export const runChanges = z
  .looseObject({ runs: z.array(runSnapshotSchema), position: text })
  .meta({ id: 'RunChanges' });

/** `POST /v1/workflows`; the body is the AuthoredWorkflow. */
export const workflowRegistered = z.looseObject({ workflowId: text, version: text }).meta({ id: 'WorkflowRegistered' });

export type CancelRun = DataOf<typeof cancelRun>;
export type RunCancelled = DataOf<typeof runCancelled>;
export type RunPurged = DataOf<typeof runPurged>;
export type RetentionPlan = DataOf<typeof retentionPlan>;
export type BulkCancelRuns = DataOf<typeof bulkCancelRuns>;
export type RunsCancelled = DataOf<typeof runsCancelled>;
export type PauseRun = DataOf<typeof pauseRun>;
export type RunPaused = DataOf<typeof runPaused>;
export type ResumeRun = DataOf<typeof resumeRun>;
export type RunResumed = DataOf<typeof runResumed>;
export type AnswerInterrupt = DataOf<typeof answerInterrupt>;
export type InterruptAnswered = DataOf<typeof interruptAnswered>;
export type RunChanges = DataOf<typeof runChanges>;
export type RunList = DataOf<typeof runList>;
export type WorkflowRegistered = DataOf<typeof workflowRegistered>;
