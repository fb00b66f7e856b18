/** RunSnapshot: the state of a run as a client reads it (open shape). */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import type { DataOf } from '../data-of.ts';
import { count, instant, jsonObject, owner, text } from '../fields.ts';
import { interruptKind } from '../interrupts/interrupts.ts';
import { forkModes } from './fork-modes.ts';
import { runStatuses } from './run-status.ts';

const cost = z.strictObject({
  usd: z.number().min(0).optional(),
  tokens: z.strictObject({ input: count.optional(), output: count.optional() }).optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
  duration_ms: count.optional(),
});

/** What one agent of the run used. */
const agentCost = z.looseObject({
  calls: count,
  usd: z.number().min(0),
  tokens: z.looseObject({ input: count, output: count }),
});

export const runSnapshotSchema = z
  .looseObject({
    runId: text.max(128),
    workflowId: text,
    /** The context of the run. */
    contextId: text.optional(),
    status: z.enum(runStatuses),
    owner: owner.optional(),
    currentNodeId: z.string().optional(),
    startedAt: instant.optional(),
    completedAt: instant.optional(),
    agent: agentRef.optional(),
    runOrchestrator: agentRef.optional(),
    nodeStates: jsonObject.optional(),
    variables: jsonObject.optional(),
    channels: jsonObject.optional(),
    error: z.strictObject({ code: text, message: text, details: jsonObject.optional() }).optional(),
    engineVersion: z.string().optional(),
    eventLogSchemaVersion: count.optional(),
    tags: z.array(z.string().max(256)).max(100).optional(),
    metadata: jsonObject.optional(),
    configurable: jsonObject.optional(),
    metrics: z
      .looseObject({ openwopCost: cost.optional(), agents: z.record(z.string(), agentCost).optional() })
      .optional(),
    /** Child runs: all that are active, and the newest of those that ended. */
    childRuns: z.array(z.looseObject({ runId: text, workflowId: text, status: z.enum(runStatuses) })).optional(),
    parentRunId: text.optional(),
    parentNodeId: text.optional(),
    inputs: jsonObject.optional(),
    outputs: jsonObject.optional(),
    /** When the run was imported from another host. An imported run never continues. */
    importedAt: instant.optional(),
    /** Where the run was cut off another: its first own event is `fromSeq`. */
    fork: z.looseObject({ sourceRunId: text, fromSeq: count, mode: z.enum(forkModes) }).optional(),
    /** In the run list: what a row says of the run. A snapshot of one run says more in other fields. */
    summary: z
      .looseObject({
        title: z.string().optional(),
        /** The agents that work or worked in the run, by id, in the order in which they began; at most 8. */
        agents: z.array(z.string()),
        /** The words of its oldest open question. */
        waitingOn: z.string().optional(),
        tokens: z.looseObject({ input: count, output: count }),
        usd: z.number().min(0),
        /** Runs that it started, if any. Counting stops at 100. */
        childCount: count.optional(),
      })
      .optional(),
    /** In a view of the past: the sequence of the last event in it, and its time. */
    atSeq: count.optional(),
    asOf: instant.optional(),
    /** What the run waits for, while it waits; never a token. */
    interrupt: z
      .looseObject({
        kind: interruptKind,
        nodeId: z.string(),
        interruptId: z.string(),
        payload: jsonObject,
      })
      .optional(),
  })
  .meta({ id: 'RunSnapshot' });

export type RunSnapshot = DataOf<typeof runSnapshotSchema>;
export type AgentCost = DataOf<typeof agentCost>;
