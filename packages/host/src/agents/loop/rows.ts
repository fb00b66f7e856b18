/** The rows by which agents act, in both spellings of their fields: one maker for each, shared by the loop and the mock agent. */
import type { AgentRef, Json, JsonObject } from '@cairn/protocol';
import type { Draft } from '../../engine/core/state.ts';
import type { Sha256, StepSafety } from '../../engine/ports.ts';
import { canonicalText } from '../../engine/values/canonical.ts';
import { utf8Prefix } from '../../utf8.ts';
import type { ReasoningVerbosity, Turn } from '../models/turn.ts';

export const clientRow = (type: string, nodeId: string, payload: JsonObject, cause?: number): Draft => ({
  type,
  nodeId,
  ...(cause === undefined ? {} : { cause }),
  audience: 'client',
  payload,
});

export const operatorRow = (type: string, nodeId: string, payload: JsonObject): Draft => ({
  type,
  nodeId,
  audience: 'operator',
  payload,
});

/** What is counted as a token where nobody can say exactly. */
const BYTES_PER_TOKEN = 4;

/** A summary is cut at the limit, between characters; `off` is never asked for. */
export function reasonedRow(
  nodeId: string,
  agentId: string,
  reasoning: string,
  { verbosity, tokenLimit }: { readonly verbosity: ReasoningVerbosity; readonly tokenLimit: number },
): Draft {
  const text = verbosity === 'full' ? reasoning : utf8Prefix(reasoning, tokenLimit * BYTES_PER_TOKEN);
  return clientRow('agent.reasoned', nodeId, { agentId, reasoning: text, verbosity });
}

export const deltaRow = (
  nodeId: string,
  agentId: string,
  delta: { readonly text: string; readonly sequence: number; readonly verbosity: ReasoningVerbosity },
): Draft =>
  clientRow('agent.reasoning.delta', nodeId, {
    agentId,
    delta: delta.text,
    sequence: delta.sequence,
    verbosity: delta.verbosity,
  });

export interface CalledTool {
  readonly agentId: string;
  readonly toolId: string;
  readonly callId: string;
  readonly input: Json;
  readonly principal: string | null;
  readonly safety: StepSafety;
  /** Which lines let it pass; left out where nothing is performed. */
  readonly rule?: string;
}

export function toolCalledRow(nodeId: string, call: CalledTool, sha256: Sha256): Draft {
  const { agentId, toolId, callId, input, principal, safety, rule } = call;
  const argsHash = sha256(canonicalText(input), 'hex');
  return clientRow('agent.toolCalled', nodeId, {
    agentId,
    toolName: toolId,
    toolId,
    callId,
    attempt: 1,
    inputs: input,
    arguments: input,
    argsHash,
    ...(principal === null ? {} : { principal }),
    transport: 'native',
    safety,
    ...(rule === undefined ? {} : { rule }),
  });
}

export interface ReturnedTool {
  readonly agentId: string;
  readonly toolId: string;
  readonly callId: string;
  readonly attempt: number;
  /** seq of its `agent.toolCalled`. */
  readonly calledSeq: number;
  /** Left out where nothing was performed. */
  readonly durationMs?: number | undefined;
  readonly isUntrusted?: boolean;
}

export type ToolEnd =
  | { readonly value: Json }
  | { readonly error: JsonObject; readonly status: 'error' | 'forbidden' | 'rate_limited' };

export function toolReturnedRow(nodeId: string, call: ReturnedTool, end: ToolEnd): Draft {
  const { agentId, toolId, callId, attempt, durationMs } = call;
  const payload: JsonObject = {
    agentId,
    toolName: toolId,
    toolId,
    callId,
    attempt,
    ...('error' in end
      ? { error: end.error, status: end.status }
      : { outcome: end.value, result: end.value, status: 'ok' }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(call.isUntrusted === true ? { contentTrust: 'untrusted' } : {}),
  };
  return clientRow('agent.toolReturned', nodeId, payload, call.calledSeq);
}

export interface AgentDecision {
  readonly decision: Json;
  /** As it was stated. */
  readonly confidence: Json | undefined;
  readonly reasoning?: string | undefined;
}

/** A confidence that is no share between 0 and 1 is no signal; it is kept under another name, for whoever looks for the fault. */
export function decidedRow(nodeId: string, agentId: string, { decision, confidence, reasoning }: AgentDecision): Draft {
  const stated = validConfidence(confidence);
  return clientRow('agent.decided', nodeId, {
    agentId,
    decision,
    ...(stated === undefined ? {} : { confidence: stated }),
    ...(stated === undefined && confidence !== undefined ? { invalidConfidence: confidence } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
  });
}

export const validConfidence = (confidence: Json | undefined): number | undefined =>
  typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : undefined;

export interface Handoff {
  readonly from: AgentRef;
  readonly to: AgentRef;
  readonly reason?: string | undefined;
  readonly context: Json | undefined;
}

export const handoffRow = (nodeId: string, { from, to, reason, context }: Handoff): Draft =>
  clientRow('agent.handoff', nodeId, {
    fromAgentId: from.agentId,
    toAgentId: to.agentId,
    from: from as JsonObject,
    to: to as JsonObject,
    ...(reason === undefined ? {} : { reason }),
    ...(context === undefined ? {} : { context }),
  });

export type InvocationOutcome = 'completed' | 'handed-off' | 'escalated' | 'refused' | 'failed';

export interface InvocationEnd {
  readonly invocationId: string;
  readonly agentId: string;
  readonly outcome: InvocationOutcome;
  /** Only where there is a schema. */
  readonly schemaValidated?: boolean | undefined;
  readonly confidence?: number | undefined;
}

export const invocationCompletedRow = (nodeId: string, end: InvocationEnd): Draft =>
  clientRow('agent.invocation.completed', nodeId, {
    invocationId: end.invocationId,
    agentId: end.agentId,
    outcome: end.outcome,
    ...(end.schemaValidated === undefined ? {} : { schemaValidated: end.schemaValidated }),
    ...(end.confidence === undefined ? {} : { confidence: end.confidence }),
  });

/** Exactly one for a call of a provider that gave something. */
export function usageRow(nodeId: string, { provider, model, usage, costUsd }: Turn): Draft {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return clientRow('provider.usage', nodeId, {
    provider,
    model,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(costUsd === undefined ? {} : { costEstimateUsd: costUsd, currency: 'USD' }),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    nodeId,
  });
}

const finishNames: readonly string[] = ['stop', 'length', 'tool_calls', 'content_filter'];

/** Closes the block of text that was streamed; what was left of it comes with it. */
export function lastChunkRow(nodeId: string, runId: string, channel: string, turn: Turn): Draft {
  const { inputTokens, outputTokens } = turn.usage;
  const usage = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    totalTokens: inputTokens + outputTokens,
  };
  return clientRow('output.chunk', nodeId, {
    nodeId,
    runId,
    chunk: turn.tail,
    isLast: true,
    channel,
    meta: {
      ...(finishNames.includes(turn.finish) ? { finishReason: turn.finish } : {}),
      model: turn.model,
      provider: turn.provider,
      usage,
    },
  });
}
