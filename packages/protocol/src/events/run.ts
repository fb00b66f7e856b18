/** Payloads of run events, from `run.started` to the terminal event. */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import { count, errorObject, json, jsonObject, ordinal, owner, runBudget, runId, share, text } from '../fields.ts';
import { remoteParent } from '../host/causation.ts';
import { callRule } from '../runs/fork-run.ts';
import { channelDeclaration } from '../runs/workflow-definition.ts';

/** What a pause does with active nodes: interrupt them, or let them finish. */
export const drainPolicies = ['immediate', 'drain-current-node'] as const;
export type DrainPolicy = (typeof drainPolicies)[number];

export const runLimits = z.looseObject({ maxNodeExecutions: ordinal, timeoutMs: ordinal.nullable() });

/** What a run was started with. No fold needs the workflow definition: this row and the later ones suffice. */
const runStarted = z.looseObject({
  workflowId: text,
  inputs: jsonObject.optional(),
  transport: z.enum(['rest', 'mcp', 'a2a', 'ui']).optional(),
  /** `untrusted` for a run that came over MCP or A2A: its inputs are the words of another system. */
  contentTrust: z.enum(['trusted', 'untrusted']).optional(),
  engineVersion: z.string().optional(),
  owner: owner.optional(),
  tags: z.array(z.string()).optional(),
  metadata: jsonObject.optional(),
  configurable: jsonObject.optional(),
  definitionHash: text.optional(),
  workflowVersion: text.optional(),
  /** The client's name for what the run works on. */
  scopeId: z.string().optional(),
  /** The tool scopes of the caller that started the run, each `tool:<name>`. */
  toolScopes: z.array(text).optional(),
  contextId: text.optional(),
  /** The run of the same context that this one does again. */
  retryOf: runId.optional(),
  /** Makes the ids inside payloads unique in the context. Derived from the id of the run that wrote this event. */
  idToken: text.optional(),
  /** Declared defaults. The inputs overlay them, and are not repeated here. */
  variables: jsonObject.optional(),
  /** The names of the sensitive variables. Views mask their values. */
  sensitive: z.array(z.string()).optional(),
  channels: z.record(z.string(), channelDeclaration).optional(),
  limits: runLimits.optional(),
  /** The budget that the run shares with its descendants. */
  budget: runBudget.optional(),
  /** The pinned agents by id: definition hash and AgentRef. */
  agents: z.record(z.string(), z.looseObject({ hash: text, ref: agentRef })).optional(),
  /** The agent of the first node that acts as one, and its model. */
  actsAs: z.looseObject({ agentId: text, model: text.optional() }).optional(),
  /** The pinned prompt templates by reference: definition hash, and the reference with its version. */
  prompts: z.record(z.string(), z.looseObject({ hash: text, ref: text })).optional(),
  /** The run of another host that requested this one. The cause of the event is an event of that run. */
  remoteParent: remoteParent.optional(),
  causationHostId: text.optional(),
  parentRunId: runId.optional(),
  parentNodeId: text.optional(),
  /** Absent in runs of older versions. */
  parentWorkflowId: text.optional(),
  /** The tool call of the task view in which that node requested the run. */
  parentToolCallId: text.optional(),
  /** The agent that requested the run. */
  parentAgentId: text.optional(),
  /** The agents of the runs above, nearest first, which answer its questions before people do. Null: a run without one. */
  coordinators: z.array(text.nullable()).optional(),
  /** Of a run that a branch started, or a run below it: the rules for its calls, and its prompts. */
  branch: z.looseObject({ rules: z.array(callRule), prompts: z.record(z.string(), z.string()) }).optional(),
  /** The memory scope of the run's agents: its top run, and whether that run is isolated from its parent. */
  memoryScope: z.looseObject({ runId, isolated: z.boolean() }).optional(),
  /** Who sees thoughts: `operator` hides all of them from clients, `minConfidence` those that are less sure. */
  thoughtPolicy: z
    .looseObject({ visibility: z.literal('operator').optional(), minConfidence: share.optional() })
    .optional(),
  /** The loops of the run's agents write `cairn.internal.*` rows. */
  internalEvents: z.literal(true).optional(),
  /** The number of ancestors. */
  depth: count.optional(),
  /** The run continues after its parent ends. */
  detached: z.boolean().optional(),
  /** The trace context of the request that started the run. */
  traceparent: text.optional(),
  tracestate: text.optional(),
});

/** Terminal events: each run has exactly one, and it is the last. */
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
    /** The size of a previous value that is left out because it is large. */
    previousBytes: count.optional(),
    next: json.optional(),
    nodeId: z.string().optional(),
  }),
} as const;
