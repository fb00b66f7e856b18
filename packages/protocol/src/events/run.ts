/** Payloads of a run's own life: from `run.started` to its one terminal event. */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import { count, errorObject, json, jsonObject, ordinal, owner, runBudget, runId, text } from '../fields.ts';
import { channelDeclaration } from '../runs/workflow-definition.ts';

/** What a pause does about nodes under way: cut them short, or let them finish first. */
export const drainPolicies = ['immediate', 'drain-current-node'] as const;
export type DrainPolicy = (typeof drainPolicies)[number];

/** What a run was started with. Together with the later events it suffices for every fold: no fold needs the definition. */
const runStarted = z.looseObject({
  workflowId: text,
  inputs: jsonObject.optional(),
  transport: z.enum(['rest', 'mcp', 'a2a', 'ui']).optional(),
  engineVersion: z.string().optional(),
  owner: owner.optional(),
  tags: z.array(z.string()).optional(),
  metadata: jsonObject.optional(),
  configurable: jsonObject.optional(),
  definitionHash: text.optional(),
  workflowVersion: text.optional(),
  /** What the run works on, by the client's name for it. */
  scopeId: z.string().optional(),
  /** Which tools that need a scope its starter may have called, each `tool:<name>`. */
  toolScopes: z.array(text).optional(),
  contextId: text.optional(),
  /** Declared defaults overlaid by the inputs. */
  variables: jsonObject.optional(),
  channels: z.record(z.string(), channelDeclaration).optional(),
  limits: z.looseObject({ maxNodeExecutions: ordinal, timeoutMs: ordinal.nullable() }).optional(),
  /** What the run and those below it may use together. */
  budget: runBudget.optional(),
  /** The agents its nodes may act as, by id: the definition each is pinned to, and how it is shown. */
  agents: z.record(z.string(), z.looseObject({ hash: text, ref: agentRef })).optional(),
  parentRunId: runId.optional(),
  parentNodeId: text.optional(),
  /** The agent that wanted the run. */
  parentAgentId: text.optional(),
  /** With whom its agents remember: the run at the top of those who do, and whether it was started apart from the one above. */
  memoryScope: z.looseObject({ runId, isolated: z.boolean() }).optional(),
  /** How many runs are above this one. */
  depth: count.optional(),
  /** It goes on when the run that started it ends. */
  detached: z.boolean().optional(),
  /** Of the request that started the run, when it was in a trace. */
  traceparent: text.optional(),
  tracestate: text.optional(),
});

/** The ends of a run: exactly one in each, and nothing after it. */
export const terminalPayloads = {
  'run.completed': z.looseObject({
    outputs: jsonObject.optional(),
    durationMs: count.optional(),
    reason: z.string().optional(),
  }),
  'run.failed': z.looseObject({
    error: errorObject,
    failedNodeId: z.string().optional(),
    durationMs: count.optional(),
  }),
  'run.cancelled': z.looseObject({
    reason: z.string().optional(),
    cancelledBy: z.string().optional(),
    durationMs: count.optional(),
    /** Set by a cascade only. */
    parentRunId: runId.optional(),
  }),
} as const;

export const runPayloads = {
  'run.started': runStarted,
  ...terminalPayloads,
  'run.resuming': z.looseObject({ fromStatus: z.string().optional() }),
  'run.paused': z.looseObject({
    reason: z.string().optional(),
    drainPolicy: z.enum(drainPolicies).optional(),
  }),
  'run.resumed': z.looseObject({ reason: z.string().optional(), resumedBy: z.string().optional() }),
  'run.restored-from-snapshot': z.looseObject({
    snapshotSeq: count.optional(),
    engineVersion: z.string().optional(),
  }),
  'run.dead_lettered': z.strictObject({
    runId: text,
    nodeId: z.string().optional(),
    reason: text,
    attempts: ordinal,
  }),
  'variable.changed': z.looseObject({
    name: text,
    previous: json.optional(),
    next: json.optional(),
    nodeId: z.string().optional(),
  }),
} as const;
