/**
 * Builds the rows that agents write, with both spellings of their fields. The loop and the mock agent share these
 * functions.
 */
import {
  type AgentRef,
  type DraftOf,
  type Json,
  type JsonObject,
  type PayloadOf,
  type RemoteRun,
  type RunId,
  row,
} from '@cairn/protocol';
import type { Sha256, StepSafety } from '../../engine/ports.ts';
import { canonicalText } from '../../engine/values/canonical.ts';
import { utf8Prefix } from '../../utf8.ts';
import type { ReasoningVerbosity, Turn } from '../models/turn.ts';
import { A2A_SCOPE, MCP_SCOPE } from '../tools/tool-registry.ts';

/** Estimated bytes per token. */
const BYTES_PER_TOKEN = 4;

/** Cuts a summary at the token limit, between characters. Callers never pass `off`. */
export function reasonedRow(
  nodeId: string,
  agentId: string,
  reasoning: string,
  { verbosity, tokenLimit }: { readonly verbosity: ReasoningVerbosity; readonly tokenLimit: number },
): DraftOf<'agent.reasoned'> {
  const text = verbosity === 'full' ? reasoning : utf8Prefix(reasoning, tokenLimit * BYTES_PER_TOKEN);
  return row('agent.reasoned', { agentId, reasoning: text, verbosity }, { nodeId });
}

export const deltaRow = (
  nodeId: string,
  agentId: string,
  delta: { readonly text: string; readonly sequence: number; readonly verbosity: ReasoningVerbosity },
): DraftOf<'agent.reasoning.delta'> =>
  row(
    'agent.reasoning.delta',
    { agentId, delta: delta.text, sequence: delta.sequence, verbosity: delta.verbosity },
    { nodeId },
  );

export interface CalledTool {
  readonly agentId: string;
  readonly toolId: string;
  readonly callId: string;
  readonly input: Json;
  readonly principal: string | null;
  readonly safety: StepSafety;
  /** The rule that allowed the call; omitted when the call is not performed. */
  readonly rule?: string;
}

export function toolCalledRow(nodeId: string, call: CalledTool, sha256: Sha256): DraftOf<'agent.toolCalled'> {
  const { agentId, toolId, callId, input, principal, safety, rule } = call;
  const argsHash = sha256(canonicalText(input), 'hex');
  const payload: PayloadOf<'agent.toolCalled'> = {
    agentId,
    toolName: toolId,
    toolId,
    callId,
    attempt: 1,
    inputs: input,
    arguments: input,
    argsHash,
    ...(principal === null ? {} : { principal }),
    transport: transportOf(toolId),
    safety,
    ...(rule === undefined ? {} : { rule }),
  };
  return row('agent.toolCalled', payload, { nodeId });
}

/** Tools of MCP servers and of A2A peers have scopes of their own. The wire has no name for A2A, which uses HTTP. */
const transportOf = (toolId: string): 'mcp' | 'http' | 'native' =>
  toolId.startsWith(MCP_SCOPE) ? 'mcp' : toolId.startsWith(A2A_SCOPE) ? 'http' : 'native';

function returnedBy(toolId: string): { readonly transport?: 'mcp' | 'http' } {
  const transport = transportOf(toolId);
  return transport === 'native' ? {} : { transport };
}

export interface ReturnedTool {
  readonly agentId: string;
  readonly toolId: string;
  readonly callId: string;
  readonly attempt: number;
  /** seq of its `agent.toolCalled`. */
  readonly calledSeq: number;
  /** Omitted when the call was not performed. */
  readonly durationMs?: number | undefined;
  readonly isUntrusted?: boolean;
  readonly retries?: number | undefined;
  /** The run that the call started on another host. */
  readonly remote?: RemoteRun | undefined;
}

type ToolReturned = PayloadOf<'agent.toolReturned'>;

export type ToolEnd = { readonly value: Json } | FailedTool;

export interface FailedTool {
  readonly error: NonNullable<ToolReturned['error']>;
  readonly status: 'error' | 'forbidden' | 'rate_limited';
}

export function toolReturnedRow(nodeId: string, call: ReturnedTool, end: ToolEnd): DraftOf<'agent.toolReturned'> {
  const { agentId, toolId, callId, attempt, durationMs, retries } = call;
  const payload: ToolReturned = {
    agentId,
    toolName: toolId,
    toolId,
    callId,
    attempt,
    ...('error' in end
      ? { error: { ...end.error, error: end.error.code }, status: end.status }
      : { outcome: end.value, result: end.value, status: 'ok' as const }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(retries === undefined ? {} : { retries }),
    ...(call.isUntrusted === true ? { contentTrust: 'untrusted' as const } : {}),
    ...returnedBy(toolId),
    ...(call.remote === undefined ? {} : { remote: call.remote }),
  };
  return row('agent.toolReturned', payload, { nodeId, cause: call.calledSeq });
}

export interface AgentDecision {
  readonly decision: Json;
  /** As the model stated it. */
  readonly confidence: Json | undefined;
  readonly reasoning?: string | undefined;
}

/** Records a confidence outside 0 to 1 as `invalidConfidence`; such a decision is held for a person. */
export function decidedRow(
  nodeId: string,
  agentId: string,
  { decision, confidence, reasoning }: AgentDecision,
): DraftOf<'agent.decided'> {
  const stated = validConfidence(confidence);
  const payload: PayloadOf<'agent.decided'> = {
    agentId,
    decision,
    ...(stated === undefined ? {} : { confidence: stated }),
    ...(stated === undefined && confidence !== undefined ? { invalidConfidence: confidence } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
  return row('agent.decided', payload, { nodeId });
}

export const validConfidence = (confidence: Json | undefined): number | undefined =>
  typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : undefined;

/** A model's value in a message, cut to a length that fits there. */
export function shownJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

export interface Handoff {
  readonly from: AgentRef;
  readonly to: AgentRef;
  readonly reason?: string | undefined;
  readonly context: JsonObject | undefined;
}

export const handoffRow = (nodeId: string, { from, to, reason, context }: Handoff): DraftOf<'agent.handoff'> =>
  row(
    'agent.handoff',
    {
      fromAgentId: from.agentId,
      toAgentId: to.agentId,
      from,
      to,
      ...(reason === undefined ? {} : { reason }),
      ...(context === undefined ? {} : { context }),
    },
    { nodeId },
  );

export type InvocationOutcome = PayloadOf<'agent.invocation.completed'>['outcome'];

export interface InvocationEnd {
  readonly invocationId: string;
  readonly agentId: string;
  readonly outcome: InvocationOutcome;
  /** Present only when there is a schema. */
  readonly schemaValidated?: boolean | undefined;
  readonly confidence?: number | undefined;
}

export const invocationCompletedRow = (nodeId: string, end: InvocationEnd): DraftOf<'agent.invocation.completed'> =>
  row(
    'agent.invocation.completed',
    {
      invocationId: end.invocationId,
      agentId: end.agentId,
      outcome: end.outcome,
      ...(end.schemaValidated === undefined ? {} : { schemaValidated: end.schemaValidated }),
      ...(end.confidence === undefined ? {} : { confidence: end.confidence }),
    },
    { nodeId },
  );

/** Written exactly once for each provider call that returned a turn. */
export function usageRow(nodeId: string, { provider, model, usage, costUsd }: Turn): DraftOf<'provider.usage'> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const payload: PayloadOf<'provider.usage'> = {
    provider,
    model,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(costUsd === undefined ? {} : { costEstimateUsd: costUsd, currency: 'USD' }),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    nodeId,
  };
  return row('provider.usage', payload, { nodeId });
}

/** Closes the streamed text block and carries its remaining text. */
export function lastChunkRow(nodeId: string, runId: RunId, channel: string, turn: Turn): DraftOf<'output.chunk'> {
  const { finish, model, provider } = turn;
  const { inputTokens, outputTokens } = turn.usage;
  const usage = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    totalTokens: inputTokens + outputTokens,
  };
  // The wire format has no name for these two.
  const finishReason = finish === 'error' || finish === 'other' ? {} : { finishReason: finish };
  const meta = { ...finishReason, model, provider, usage };
  const large = turn.large?.text === undefined ? {} : { large: turn.large.text };
  return row('output.chunk', { nodeId, runId, chunk: turn.tail, isLast: true, channel, meta, ...large }, { nodeId });
}
