/**
 * A mock agent that plays its configuration, so that tests can observe agents from outside. It writes the same rows as
 * the loop.
 */
import { type AgentRef, agentIdProblem, type ErrorCode, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { agentRefOf } from '../../engine/core/node-decisions.ts';
import type { Draft } from '../../engine/core/state.ts';
import { defineNodeType, type NodeContext, type NodeType } from '../../engine/workflow/node-type.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import { placeOf, toolCallId, turnId } from './calls/call-ids.ts';
import { escalation } from './escalation.ts';
import type { LoopOptions } from './loop-options.ts';
import {
  type AgentDecision,
  decidedRow,
  deltaRow,
  handoffRow,
  reasonedRow,
  type ToolEnd,
  toolCalledRow,
  toolReturnedRow,
} from './rows.ts';
import { principalOf, verbosityOf } from './settings.ts';

const json = z.custom<Json>(() => true);
/** Accepts any value: the fixture decides what the row shows. */
const handedContext = z.custom<JsonObject>(() => true);
const agentId = z.string().min(3).max(256);

const toolCall = z
  .strictObject({
    toolId: z.string().min(1),
    arguments: json.optional(),
    result: json.optional(),
    error: z
      .strictObject({
        error: z.string().min(1),
        message: z.string().min(1),
        details: z.record(z.string(), json).optional(),
      })
      .optional(),
    durationMs: z.int().min(0).optional(),
  })
  .refine((call) => (call.result === undefined) !== (call.error === undefined), {
    message: 'must have either result or error, and not both',
  });

const confidence = z.number().min(0).max(1).optional();

const mockConfig = z.strictObject({
  agentId: agentId.optional(),
  mockReasoning: z
    .union([
      z.boolean(),
      z.strictObject({
        summary: z.string(),
        trace: z.string().optional(),
        tokenCount: z.int().min(0).optional(),
        streamChunks: z.array(z.string()).optional(),
      }),
    ])
    .optional(),
  mockToolCalls: z.array(toolCall).optional(),
  mockHandoff: z
    .strictObject({ toAgentId: agentId, reason: z.string().optional(), context: handedContext.optional() })
    .optional(),
  mockDecision: z.strictObject({ decision: json, confidence, reasoning: z.string().optional() }).optional(),
  mockConfidence: confidence,
});

type MockConfig = z.infer<typeof mockConfig>;

const otherAgents = ({ agentId: own, mockHandoff }: MockConfig): readonly string[] =>
  [own, mockHandoff?.toAgentId].filter((id) => id !== undefined);

export function mockAgent(options: LoopOptions): NodeType {
  return defineNodeType({
    typeId: 'core.conformance.mock-agent',
    config: mockConfig,
    check: ({ config }) =>
      otherAgents(config).flatMap((id) => {
        const problem = agentIdProblem(id);
        return problem === null ? [] : [{ path: ['config'], message: `the agent ${id} ${problem}` }];
      }),
    otherAgents,
    begin(context) {
      const { rows, isHeld } = play(context, options);
      return isHeld ? { kind: 'wait', drafts: rows } : { kind: 'complete', outputs: {}, drafts: rows };
    },
    resume: (_context, { timedOut }) =>
      timedOut
        ? {
            kind: 'fail',
            error: { code: 'interrupt_timeout', message: 'Nobody looked at the decision in time.', retryable: false },
          }
        : { kind: 'complete', outputs: {} },
  });
}

/** Plays the config in a fixed order: reasoning, tool calls, handoff, decision, escalation. */
function play(context: NodeContext<MockConfig>, options: LoopOptions) {
  const { node, config } = context;
  const from = emitterOf(context, config);
  const rows = reasoningRows(node.id, from.agentId, config, {
    verbosity: verbosityOf({ config: {}, state: context.state }, options),
    tokenLimit: options.reasoningTokenLimit,
  });
  rows.push(...toolRows(context, from.agentId, config, rows.length, options));
  if (config.mockHandoff !== undefined) {
    const { toAgentId, reason, context: handed } = config.mockHandoff;
    const to = agentRefOf(context, toAgentId) ?? { agentId: toAgentId };
    rows.push(handoffRow(node.id, { from, to, reason, context: handed }));
  }
  const decision = decisionOf(config);
  if (decision === null) return { rows, isHeld: false };
  rows.push(decidedRow(node.id, from.agentId, decision));
  const { agentId } = from;
  const defaultThreshold = context.agents.get(agentId)?.manifest.confidence?.defaultThreshold;
  const stated = { ...decision, agentId, defaultThreshold, returnSchema: undefined };
  const held = escalation(context, stated, options);
  return { rows: held.action === 'none' ? rows : [...rows, ...held.drafts], isHeld: held.action === 'ask' };
}

function emitterOf(context: NodeContext, config: MockConfig): AgentRef {
  const { id, agent } = context.node;
  const agentId = config.agentId ?? agent?.agentId ?? `host:mock-agent:${id}`;
  return agentRefOf(context, agentId) ?? { agentId };
}

function reasoningRows(
  nodeId: string,
  emitter: string,
  { mockReasoning }: MockConfig,
  how: { readonly verbosity: ReasoningVerbosity; readonly tokenLimit: number },
): Draft[] {
  if (mockReasoning === undefined || mockReasoning === false || how.verbosity === 'off') return [];
  if (mockReasoning === true) return [reasonedRow(nodeId, emitter, 'Mock reasoning.', how)];
  const { summary, trace, streamChunks = [] } = mockReasoning;
  if (streamChunks.length === 0) {
    return [reasonedRow(nodeId, emitter, how.verbosity === 'full' ? (trace ?? summary) : summary, how)];
  }
  const { verbosity } = how;
  const deltas = streamChunks.map((text, sequence) => deltaRow(nodeId, emitter, { text, sequence, verbosity }));
  return [...deltas, reasonedRow(nodeId, emitter, streamChunks.join(''), how)];
}

function toolRows(
  context: NodeContext,
  emitter: string,
  { mockToolCalls = [] }: MockConfig,
  before: number,
  { sha256 }: LoopOptions,
): Draft[] {
  const { node, state } = context;
  const turn = turnId(placeOf(context), 0);
  const rows: Draft[] = [];
  for (const [index, call] of mockToolCalls.entries()) {
    const { toolId, durationMs } = call;
    const callId = toolCallId(turn, index);
    const called = { agentId: emitter, toolId, callId, principal: principalOf(context), safety: 'pure' as const };
    // The engine writes the node's start as the first row of the decision.
    const calledSeq = state.nextSeq + 1 + before + rows.length;
    rows.push(toolCalledRow(node.id, { ...called, input: call.arguments ?? null }, sha256));
    rows.push(
      toolReturnedRow(node.id, { agentId: emitter, toolId, callId, attempt: 1, calledSeq, durationMs }, endOf(call)),
    );
  }
  return rows;
}

function endOf({ result, error }: NonNullable<MockConfig['mockToolCalls']>[number]): ToolEnd {
  if (error === undefined) return { value: result ?? null };
  const { error: code, message, details } = error;
  const shown = { code: code as ErrorCode, message, ...(details === undefined ? {} : { details }) };
  return { error: shown, status: 'error' };
}

function decisionOf({ mockDecision, mockConfidence }: MockConfig): AgentDecision | null {
  if (mockDecision !== undefined) {
    const { decision, confidence: stated, reasoning } = mockDecision;
    return { decision, confidence: stated, reasoning };
  }
  return mockConfidence === undefined ? null : { decision: { kind: 'mock' }, confidence: mockConfidence };
}
