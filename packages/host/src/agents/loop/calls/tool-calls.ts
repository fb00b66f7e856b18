/**
 * The tool calls of a turn: authorizes them, builds their input, records results, and asks the questions of suspended
 * tools.
 */

import {
  clientToolNamed,
  type ErrorCode,
  invariant,
  isClientCall,
  isJsonObject,
  type Json,
  type JsonObject,
  quoted,
  row,
} from '@cairn/protocol';
import type { Draft, Effect, OpenCall } from '../../../engine/core/state.ts';
import { TOOL_PERFORMER } from '../../../engine/performer-ids.ts';
import type { CallResult } from '../../../engine/workflow/driven-calls.ts';
import type { NodeAction } from '../../../engine/workflow/node-type.ts';
import { authorize, type ToolAccess } from '../../allowlist.ts';
import type { ModelToolCall, Turn } from '../../models/turn.ts';
import type { PersonQuestion, ToolCallInput, ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent.ts';
import type { LoopContext } from '../agent-config.ts';
import type { LoopOptions } from '../loop-options.ts';
import { questionRows } from '../question-rows.ts';
import { type FailedTool, toolCalledRow, toolReturnedRow } from '../rows.ts';
import { principalOf, verbosityOf } from '../settings.ts';
import { exceeds, MAX_ARGUMENT_BYTES } from '../sizes.ts';
import { callsOf, type LoopState, openInvocation, type ToolCall, type ToolsStage } from '../state/loop-state.ts';
import { budgetElsewhere } from './call-budget.ts';
import { placeOf, toolCallId, turnId } from './call-ids.ts';
import { clientQuestions, endOfAnswered } from './client-calls.ts';
import { loopToolCalled } from './loop-tools.ts';
import { accessIn } from './tool-access.ts';

/** A tool call that the loop refuses, with the error returned to the model. */
export interface Refused {
  readonly index: number;
  readonly toolId: string;
  readonly input: Json;
  readonly end: FailedTool;
}

/** A tool call that the loop performs. */
export interface Allowed {
  readonly index: number;
  readonly toolId: string;
  readonly input: Json;
  readonly safety: ToolCall['safety'];
  readonly rule: string;
}

export const refusal = (code: ErrorCode, message: string): FailedTool => ({
  error: { code, message, retryable: false },
  status: 'error',
});

/** Authorizes a call to a regular tool and checks its arguments. The tools shown to the model prove nothing. */
export function judgeCall(access: ToolAccess, call: ModelToolCall, index: number): Allowed | Refused {
  const { name, input, invalid } = call;
  const judged = authorize(access, name);
  if (!judged.allowed) {
    const { code, toolId, message, rule, requiredScopes } = judged;
    const details = { scope: 'tool', toolName: toolId, requiredScopes, rule };
    const status = code === 'forbidden' ? 'forbidden' : 'error';
    return { index, toolId, input, end: { error: { code, message, retryable: false, details }, status } };
  }
  const { tool, rule } = judged;
  const toolId = tool.id;
  const problems = invalid === undefined ? problemsOf(tool.check(input)) : [invalid];
  if (problems.length === 0) return { index, toolId, input, safety: tool.safetyOf(input), rule };
  const message = `The arguments of ${toolId} are wrong: ${problems.join('; ')}.`;
  return { index, toolId, input, end: refusal('tool_invalid_arguments', message) };
}

const problemsOf = (checked: { ok: true } | { ok: false; problems: readonly string[] }): readonly string[] =>
  checked.ok ? [] : checked.problems;

/** Maximum length of a called name. Tool names are shorter; an invented name need not be. */
const MAX_NAME = 128;

/** Explains why no tool could accept this call; null when it is well-formed. */
export function malformed({ toolCalls }: Turn, index: number): string | null {
  const call = toolCalls[index];
  if (call === undefined) return null;
  const { id, name, input } = call;
  // Duplicate ids would make results ambiguous. Some models give no id at all.
  if (id !== '' && toolCalls.findIndex((other) => other.id === id) < index) {
    return `The call id ${quoted(id, 80)} was used before in this turn.`;
  }
  if (name === '' || name.length > MAX_NAME) return `No tool is called ${quoted(name, 80)}.`;
  if (exceeds(input, MAX_ARGUMENT_BYTES)) return `The arguments have more than ${MAX_ARGUMENT_BYTES} bytes of JSON.`;
  return null;
}

/** The refused call as recorded, without arguments that are too large for its row. */
export function malformedCall(access: ToolAccess, { name, input }: ModelToolCall, index: number, why: string): Refused {
  const toolId = loopToolCalled(name) ?? access.registry.called(name)?.id ?? (name.slice(0, MAX_NAME) || 'unnamed');
  const shown = exceeds(input, MAX_ARGUMENT_BYTES) ? null : input;
  return { index, toolId, input: shown, end: refusal('tool_invalid_arguments', why) };
}

/**
 * The rows of a turn's calls, in the model's order. Refused calls return at once. `before` counts the earlier rows of
 * this decision.
 */
export function callRows(
  context: LoopContext,
  agent: Agent,
  calls: readonly (Allowed | Refused)[],
  { before, options }: { readonly before: number; readonly options: LoopOptions },
): { readonly drafts: readonly Draft[]; readonly effects: readonly Effect[] } {
  const drafts: Draft[] = [];
  const effects: Effect[] = [];
  const nodeId = context.node.id;
  const principal = principalOf(context);
  const { agentId } = agent;
  const turn = currentTurn(context);
  for (const call of calls) {
    const { index, toolId, input } = call;
    const callId = toolCallId(turn, index);
    const calledSeq = context.state.nextSeq + before + drafts.length;
    const called = { agentId, toolId, callId, input, principal };
    if ('end' in call) {
      drafts.push(toolCalledRow(nodeId, { ...called, safety: 'pure' }, options.sha256));
      drafts.push(toolReturnedRow(nodeId, { agentId, toolId, callId, attempt: 1, calledSeq }, call.end));
    } else {
      const { safety, rule } = call;
      drafts.push(toolCalledRow(nodeId, { ...called, safety, rule }, options.sha256));
      if (clientToolNamed(toolId) === null) effects.push({ kind: 'step', callId });
    }
  }
  return { drafts, effects };
}

/** The turn whose calls are made or open. */
const currentTurn = (context: LoopContext): string => turnId(placeOf(context), context.inner.turns - 1);

/** The loop's state of a call that is open in the engine. */
function callOf({ inner }: LoopContext, callId: string): ToolCall {
  const call = callsOf(openInvocation(inner)).find((one) => one.callId === callId);
  invariant(call !== undefined, 'agent-tool-call-open', { callId });
  return call;
}

/** Builds the input of a tool call. */
export function toolInput(context: LoopContext, { callId }: OpenCall, options: LoopOptions): ToolCallInput {
  const { stage, agentId } = openInvocation(context.inner);
  const { toolId, index, records } = callOf(context, callId);
  const asked = 'turn' in stage ? stage.turn.toolCalls[index] : undefined;
  const reasoning = verbosityOf(context, options);
  const call = {
    ...{ toolId, input: asked?.input ?? null, agentId, turnId: currentTurn(context), records },
    principal: principalOf(context),
    ...budgetElsewhere(context, toolId),
  };
  return reasoning === 'summary' ? call : { ...call, reasoning };
}

/** Describes, for human review, an interrupted call that may have written. */
export function aboutTool(context: LoopContext, call: OpenCall, options: LoopOptions): JsonObject {
  const { toolId, input, agentId } = toolInput(context, call, options);
  const schema = accessIn(context, undefined, options).registry.get(toolId)?.inputSchema;
  return { tool: toolId, agentId, inputs: inDeclaredOrder(input, schema?.properties) };
}

/** A person reads the arguments in the order in which the tool declares them, not in the order of the model. */
function inDeclaredOrder(input: Json, properties: Json | undefined): Json {
  if (!isJsonObject(input) || !isJsonObject(properties)) return input;
  const declared = Object.keys(properties).filter((name) => Object.hasOwn(input, name));
  return { ...Object.fromEntries(declared.map((name) => [name, input[name] ?? null])), ...input };
}

/** The rows that record the result of a call, or its suspension on a question, unless too many were asked. */
export function toolReturned(
  context: LoopContext,
  open: OpenCall,
  result: CallResult,
  options: LoopOptions,
): readonly Draft[] {
  const outcome = outcomeOf(result);
  const limit = options.clarificationRounds;
  const isAsking = outcome.kind === 'suspended' && outcome.question.kind === 'ask';
  if (!isAsking || questionsOf(context.inner) < limit) return [returnedRow(context, open, outcome, options)];
  const nodeId = context.node.id;
  const breach = { kind: 'clarification', limit, observed: limit + 1, nodeId } as const;
  const message = `No more questions: this node has asked ${limit}, which is all it may. Go on with what you know.`;
  const refused: ToolOutcome = {
    kind: 'failed',
    error: { code: 'clarification_limit_exceeded', message, retryable: false },
  };
  return [row('cap.breached', breach, { nodeId }), returnedRow(context, open, refused, options)];
}

/** Questions that were asked, and those that wait for their turn. */
const questionsOf = (loop: LoopState): number =>
  (loop.questions ?? 0) +
  callsOf(openInvocation(loop)).filter(({ progress }) => progress.kind === 'asking' && progress.question.kind === 'ask')
    .length;

function returnedRow(context: LoopContext, open: OpenCall, outcome: ToolOutcome, options: LoopOptions): Draft {
  const { callId, attempt, requestedAt } = open;
  const { toolId, calledSeq, retries } = callOf(context, callId);
  const { agentId } = openInvocation(context.inner);
  const nodeId = context.node.id;
  if (outcome.kind === 'suspended') {
    const { ordinal, question } = outcome;
    const suspended = { ordinal, question };
    return row('cairn.step.returned', { nodeId, callId, attempt, suspended }, { nodeId });
  }
  const isUntrusted = accessIn(context, undefined, options).registry.get(toolId)?.untrusted ?? true;
  const durationMs = Math.max(0, Math.round(context.now - requestedAt));
  const returned = {
    agentId,
    toolId,
    callId,
    attempt,
    calledSeq,
    durationMs,
    retries,
    isUntrusted,
    remote: outcome.remote,
  };
  if (outcome.kind === 'result') return toolReturnedRow(nodeId, returned, { value: outcome.value });
  const { error } = outcome;
  if (error.code !== 'rate_limited') return toolReturnedRow(nodeId, returned, { error, status: 'error' });
  const limited = { ...error, details: { scope: 'tool', toolName: toolId } };
  return toolReturnedRow(nodeId, { ...returned, durationMs: undefined }, { error: limited, status: 'rate_limited' });
}

function outcomeOf(result: CallResult): ToolOutcome {
  if ('given' in result) return { kind: 'result', value: result.given };
  if ('outcome' in result) return result.outcome as ToolOutcome;
  const { code, message, retryable = false } = result.error;
  return { kind: 'failed', error: { code, message, retryable } };
}

/** Requests the call again without a second `agent.toolCalled`. */
export function callAgain(
  nodeId: string,
  { callId, attempt, safety }: Pick<OpenCall, 'callId' | 'attempt' | 'safety'>,
): Draft {
  const payload = { nodeId, callId, step: TOOL_PERFORMER, attempt: attempt + 1, safety };
  return row('cairn.step.requested', payload, { nodeId });
}

/**
 * Resumes or ends answered calls, or asks for what calls wait for. Returns null while all open calls run or wait. The calls
 * of clients are asked for first, so that their questions are numbered before the next one.
 */
export function goOnWithCalls(context: LoopContext, stage: ToolsStage): NodeAction | null {
  const nodeId = context.node.id;
  const drafts: Draft[] = [];
  const effects: Effect[] = [];
  for (const call of stage.calls) {
    if (call.progress.kind !== 'answered') continue;
    const end = endOfAnswered(context, call);
    drafts.push(end ?? callAgain(nodeId, call));
    if (end === null) effects.push({ kind: 'step', callId: call.callId });
  }
  if (drafts.length > 0) return { kind: 'wait', drafts, effects };
  const question = hasOpenQuestion(context) ? null : nextQuestion(stage);
  const forClient = clientQuestions(context, stage, question !== null);
  if (forClient.length > 0) return { kind: 'wait', drafts: forClient };
  return question === null ? null : { kind: 'wait', drafts: questionRows(context, question) };
}

function nextQuestion({ calls }: ToolsStage): PersonQuestion | null {
  for (const { progress } of calls) {
    if (progress.kind === 'asking' && progress.question.kind !== 'client') return progress.question;
  }
  return null;
}

/** A node asks people one question at a time, so an answer to the node is unambiguous. */
const hasOpenQuestion = ({ state, node }: LoopContext): boolean =>
  Object.values(state.view.interrupts).some((open) => open.nodeId === node.id && !isClientCall(open));
