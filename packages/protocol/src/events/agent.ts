/** Payloads of agent events: reasoning, tool calls, handoffs, decisions, conversations and memory. */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import { agentId, count, errorObject, json, jsonObject, ordinal, share, text } from '../fields.ts';
import { remoteRun } from '../host/causation.ts';
import { conversationTurn, participant } from '../interrupts/conversation.ts';
import { thoughtTypes, verbosityLevels } from '../task-events/kinds.ts';
import { recoveries, reusedFrom, stepSafety } from './cairn.ts';

const contentTrust = z.enum(['trusted', 'untrusted']);
const causationHostId = text.optional();
const verbosity = z.enum(['summary', 'full', 'off']).optional();
const conversationId = text.max(256);
const promptKind = z.enum(['system', 'user', 'few-shot', 'schema-hint']);
const promptLayer = z.enum([
  'run-configurable',
  'node',
  'agent-intrinsic',
  'agent-overrides',
  'agent-library-default',
  'workflow-defaults',
  'host-defaults',
]);

export const agentPayloads = {
  'agent.reasoned': z.looseObject({
    agentId,
    reasoning: z.string(),
    verbosity,
    causationHostId,
    /** For a thought that a tool wrote: what kind it is, its level, and what belongs to it. */
    thoughtType: z.enum(thoughtTypes).optional(),
    level: z.enum(verbosityLevels).optional(),
    confidence: share.optional(),
    alternatives: z.array(z.string()).optional(),
    relatedTo: z.string().optional(),
    /** Only operators see it. */
    visibility: z.literal('operator').optional(),
  }),
  'agent.reasoning.delta': z.looseObject({ agentId, delta: z.string(), sequence: count, verbosity }),
  'agent.toolCalled': z.looseObject({
    agentId,
    toolName: text,
    callId: text,
    inputs: json.optional(),
    argsHash: z.string().optional(),
    principal: z.string().optional(),
    transport: z.enum(['mcp', 'http', 'native']).optional(),
    causationHostId,
    /** The same tool and arguments by their other names. */
    toolId: text.optional(),
    arguments: json.optional(),
    /** Counts from 1; a call may be repeated. */
    attempt: ordinal.optional(),
    safety: stepSafety.optional(),
    recoveries,
    /** The model turn that requested the call, counted from 0 in its invocation. */
    round: count.optional(),
    /** What allowed the call: a line of the agent's manifest or of the host's policy. */
    rule: z.string().optional(),
  }),
  'agent.toolReturned': z.looseObject({
    agentId,
    toolName: text,
    callId: text,
    outcome: json.optional(),
    /** With its code by both names, `code` and `error`. */
    error: errorObject.extend({ error: z.string().optional() }).optional(),
    status: z.enum(['ok', 'error', 'forbidden', 'rate_limited']).optional(),
    durationMs: count.optional(),
    causationHostId,
    toolId: text.optional(),
    /** The outcome by its other name. */
    result: json.optional(),
    attempt: ordinal.optional(),
    reusedFrom,
    /** How often the call was repeated because its host stopped. */
    retries: count.optional(),
    contentTrust: contentTrust.optional(),
    /** Set if another program performed the call. */
    transport: z.enum(['mcp', 'http', 'native']).optional(),
    /** The run that the call started on another host, as that host says. */
    remote: remoteRun.optional(),
  }),
  'agent.handoff': z.looseObject({
    fromAgentId: agentId,
    toAgentId: agentId,
    reason: z.string().optional(),
    causationHostId,
    /** The same two agents as references. */
    from: agentRef.optional(),
    to: agentRef.optional(),
    /** What is handed over. With `subtaskId`, a child run does the work and returns its result. */
    context: jsonObject.optional(),
  }),
  'agent.decided': z.looseObject({
    agentId,
    decision: json,
    confidence: share.optional(),
    causationHostId,
    reasoning: z.string().optional(),
    /** What was stated as a confidence and is none. */
    invalidConfidence: json.optional(),
  }),
  'agent.verified': z.strictObject({
    agentId,
    target: text,
    verdict: z.enum(['pass', 'fail', 'revise']),
    criteria: z.array(text).optional(),
    confidence: share.optional(),
    causationHostId,
  }),
  'agent.promptResolved': z.strictObject({
    nodeId: z.string(),
    kind: promptKind,
    chain: z.array(
      z.strictObject({
        layer: promptLayer,
        source: z.string().optional(),
        applied: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
    resolved: z.string().nullable(),
    agentId: z.string().optional(),
    causationHostId,
  }),
  'agent.invocation.started': z.looseObject({
    invocationId: text,
    agentId: text,
    source: z.enum(['workflow-node', 'run-api', 'chat-mention']),
    modelClass: z.string().optional(),
    resolvedModel: z.string().optional(),
    resolvedProvider: z.string().optional(),
    resolvedAgentVersion: z.string().optional(),
    resolvedChannel: z.string().optional(),
    toolSurfaceCount: count.optional(),
    memoryBound: z.boolean().optional(),
    /** Who shares the transcript of the invocation: `isolated`, `shared` or `shared:<group>`. */
    group: text.optional(),
    /** The task, for those who share the transcript. */
    task: z.string().optional(),
  }),
  'agent.invocation.completed': z.looseObject({
    invocationId: text,
    agentId: text,
    outcome: z.enum(['completed', 'handed-off', 'escalated', 'refused', 'failed']),
    schemaValidated: z.boolean().optional(),
    confidence: share.optional(),
    enqueuedRunId: text.optional(),
  }),
  'tool.session.opened': z.looseObject({ sessionId: text, toolId: text }),
  'tool.session.closed': z.looseObject({
    sessionId: text,
    toolId: text,
    outcome: z.enum(['completed', 'failed', 'cancelled']),
  }),
  'conversation.opened': z.looseObject({
    conversationId,
    openedBy: z.string().optional(),
    agentId: text.optional(),
    initialTurn: conversationTurn.optional(),
    /** Who may speak; absent: anyone who can answer. */
    participants: z.array(participant).optional(),
    /** The JSON Schema of every turn after the first. */
    schema: jsonObject.optional(),
    capabilities: z.array(z.enum(['multi-turn', 'streaming'])).optional(),
  }),
  'conversation.exchanged': z.looseObject({
    conversationId,
    turnIndex: count,
    turn: conversationTurn.optional(),
    outcome: json.optional(),
  }),
  'conversation.closed': z.looseObject({
    conversationId,
    /** Of the last turn. */
    turnIndex: count.optional(),
    finalTurn: conversationTurn.optional(),
    outcome: json.optional(),
    reason: z.string().optional(),
    /** The number of turns between the first and the last. */
    turnCount: count.optional(),
  }),
  'memory.compacted': z.looseObject({
    memoryRef: text,
    outputId: text,
    sourceIds: z.array(text).optional(),
    sourceCount: ordinal,
    trigger: z.enum(['host-managed', 'client-requested', 'both']),
    byteSize: count,
    distillation: z
      .strictObject({ tokenBudget: ordinal, tokensUsed: count, indexUpdated: z.boolean().optional() })
      .optional(),
  }),
  'memory.written': z.looseObject({
    memoryRef: text,
    memoryId: text,
    nodeId: text.optional(),
    agentId: text.optional(),
    tags: z.array(z.string()).optional(),
  }),
  'agent.memory.consolidated': z.looseObject({
    memoryRef: text,
    inputCount: count,
    outputCount: count,
    mergedIds: z.array(text).optional(),
    trigger: z.enum(['host-managed', 'scheduled', 'on-demand']).optional(),
  }),
  'commitment.fired': z.looseObject({
    commitmentId: text,
    memoryRef: text,
    memoryId: text.optional(),
    condition: z.enum(['time', 'predicate']),
    enqueuedRunId: text.optional(),
  }),
  'workspace.updated': z.strictObject({ path: text, version: ordinal }),
  'prompt.composed': z.strictObject({
    nodeId: z.string(),
    refs: z.array(
      z.string().regex(/^prompt:[a-z0-9][a-z0-9._-]{0,127}(@\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?$/),
    ),
    kind: z.enum(['system+user', 'system-only', 'user-only', 'agent-reasoning']),
    hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    composed: z.string().optional(),
    systemPrompt: z.string().optional(),
    userPrompt: z.string().optional(),
    variableBindings: jsonObject.optional(),
    variableHashes: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)).optional(),
    contentTrust: contentTrust.optional(),
    causationHostId,
  }),
} as const;
