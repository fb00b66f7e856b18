/** The small bodies of a run's other routes: cancelling, answering, listing, and registering workflows. */
import { z } from 'zod';
import { json, text } from './fields.ts';
import { runSnapshotSchema, runStatuses } from './run-snapshot.ts';

const status = z.enum(runStatuses);

/** `POST /v1/runs/{runId}/cancel`. */
export const cancelRun = z.strictObject({ reason: z.string().max(512).optional() }).meta({ id: 'CancelRun' });
export const runCancelled = z.looseObject({ runId: text, status }).meta({ id: 'RunCancelled' });

/** `POST /v1/runs/{runId}/interrupts/{nodeId}` (closed). The value must be there; null is a value. */
export const answerInterrupt = z.strictObject({ resumeValue: json }).meta({ id: 'AnswerInterrupt' });
export const interruptAnswered = z.looseObject({ runId: text, nodeId: text, status }).meta({ id: 'InterruptAnswered' });

/** `GET /v1/runs`, newest first. */
export const runList = z
  .looseObject({ runs: z.array(runSnapshotSchema), nextCursor: text.nullable() })
  .meta({ id: 'RunList' });

/** `POST /v1/workflows`; the body is the WorkflowDefinition. */
export const workflowRegistered = z.looseObject({ workflowId: text, version: text }).meta({ id: 'WorkflowRegistered' });

export type CancelRun = z.infer<typeof cancelRun>;
export type RunCancelled = z.infer<typeof runCancelled>;
export type AnswerInterrupt = z.infer<typeof answerInterrupt>;
export type InterruptAnswered = z.infer<typeof interruptAnswered>;
export type RunList = z.infer<typeof runList>;
export type WorkflowRegistered = z.infer<typeof workflowRegistered>;
