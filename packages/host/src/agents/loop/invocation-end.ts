/** The ways an invocation continues or ends: another turn, a handoff, a result or a failure. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Draft, RunError } from '../../engine/core/state.ts';
import type { NodeAction } from '../../engine/workflow/node-type.ts';
import type { Turn } from '../models/turn.ts';
import { type Agent, agentOf } from './agent.ts';
import type { LoopContext } from './agent-config.ts';
import { type Breach, breachError, breachRow, turnBreach } from './budgets.ts';
import type { HandedOn, StatedDecision } from './calls/loop-tools.ts';
import { askModel } from './calls/model-calls.ts';
import type { LoopOptions } from './loop-options.ts';
import { MAX_REPAIRS } from './repairs.ts';
import { handoffRow, type InvocationOutcome, invocationCompletedRow, validConfidence } from './rows.ts';
import { exceeds, MAX_ROW_BYTES, MAX_SAID_CHARACTERS } from './sizes.ts';
import { callsOf, type Invocation } from './state/loop-state.ts';
import { inWords } from './task.ts';

/** One decision about an invocation. */
export interface LoopStep {
  readonly context: LoopContext;
  readonly invocation: Invocation;
  readonly agent: Agent;
  readonly options: LoopOptions;
  /** Rows to write before all others of this decision. */
  readonly rows: readonly Draft[];
}

/** Asks for another model turn, unless that would exceed a limit. */
export function askNext(step: LoopStep, say: Parameters<typeof askModel>[2] = {}): NodeAction {
  const { context, invocation, rows } = step;
  const breach = turnBreach(context, context.inner);
  if (breach !== null) return endByBreach(step, breach);
  if (saidSoFar(invocation) > MAX_SAID_CHARACTERS) return endBadly(step, tooLong(context.node.id));
  const { drafts, effects } = askModel(context, invocation, say);
  return { kind: 'wait', drafts: [...rows, ...drafts], effects };
}

/** Includes the tool results of this turn, which the next request sends. */
const saidSoFar = (invocation: Invocation): number =>
  callsOf(invocation).reduce(
    (sum, { progress }) => (progress.kind === 'done' ? sum + JSON.stringify(progress.output).length : sum),
    invocation.characters,
  );

/** Handles a result that violates its schema: the model may correct it as often as the node allows, then the node fails. */
export function repair(step: LoopStep, problems: readonly string[]): NodeAction {
  const { context, invocation, agent } = step;
  if (invocation.repairs < (context.config.retryOnInvalidJson ?? MAX_REPAIRS)) {
    const note = `Your result does not have the required shape: ${problems.join('; ')}. Give it once more, as JSON that fits the schema and nothing else.`;
    return askNext(step, { note, repairs: true });
  }
  return endBadly(step, {
    code: 'handoff_return_schema_violation',
    message: `The result of ${agent.agentId} in node ${context.node.id} does not fit its schema: ${problems.join('; ')}.`,
    details: { agentId: agent.agentId, problems },
    retryable: true,
  });
}

/**
 * Hands the work to a colleague, with whom the next decision begins. `before` holds the rows that state the decision.
 */
export function handOn(step: LoopStep, handedOn: HandedOn, before: readonly Draft[]): NodeAction {
  const { context, invocation, agent, rows } = step;
  const nodeId = context.node.id;
  const { agentId, message, task, reason } = handedOn;
  const handoff = handoffRow(nodeId, {
    from: agent.ref,
    to: agentOf(context, agentId).ref,
    reason,
    context: { message, ...(task === undefined ? {} : { task }) },
  });
  const completed = invocationCompletedRow(nodeId, {
    invocationId: invocation.id,
    agentId: agent.agentId,
    outcome: 'handed-off',
  });
  return { kind: 'wait', drafts: [...rows, ...before, handoff, completed] };
}

export interface Finished {
  /** The last turn of the model. */
  readonly turn: Turn;
  readonly decision: Json;
  /** Present when the model stated the decision by a tool call. */
  readonly stated?: StatedDecision;
  readonly rows: readonly Draft[];
  readonly outcome?: InvocationOutcome;
}

export function finish(step: LoopStep, { turn, decision, stated, rows, outcome = 'completed' }: Finished): NodeAction {
  const { context, invocation, agent } = step;
  const { agentId, returnSchema } = agent;
  const confidence = validConfidence(stated?.confidence);
  const hasSchema = returnSchema !== undefined;
  const completed = invocationCompletedRow(context.node.id, {
    invocationId: invocation.id,
    agentId,
    outcome,
    schemaValidated: hasSchema ? true : undefined,
    confidence,
  });
  const outputs: JsonObject = {
    content: turn.text === '' ? inWords(decision) : (turn.large?.text ?? turn.text),
    ...(hasSchema ? { result: decision } : {}),
    ...(stated === undefined ? {} : { decision }),
    ...(confidence === undefined ? {} : { confidence }),
    agentId,
  };
  if (exceeds(outputs, MAX_ROW_BYTES)) return endBadly(step, tooMuch(context.node.id));
  return { kind: 'complete', outputs, drafts: [...step.rows, ...rows, completed], agentId };
}

export function endByBreach(step: LoopStep, breach: Breach): NodeAction {
  const nodeId = step.context.node.id;
  const rows = [...step.rows, breachRow(nodeId, breach)];
  return endBadly({ ...step, rows }, breachError(nodeId, breach));
}

/** Fails the invocation. The error is not retryable if the attempt called a tool that may write. */
export function endBadly(step: LoopStep, error: RunError, outcome: InvocationOutcome = 'failed'): NodeAction {
  const { context, invocation, agent, rows } = step;
  const completed = invocationCompletedRow(context.node.id, {
    invocationId: invocation.id,
    agentId: agent.agentId,
    outcome,
    schemaValidated: error.code === 'handoff_return_schema_violation' ? false : undefined,
  });
  const retryable = error.retryable === true && context.inner.writes === 0;
  return { kind: 'fail', error: { ...error, retryable }, drafts: [...rows, completed] };
}

const tooMuch = (nodeId: string): RunError => ({
  code: 'event_too_large',
  message: `What the agent of node ${nodeId} gave has more than ${MAX_ROW_BYTES} bytes of JSON, which is more than an event can hold.`,
  retryable: false,
});

const tooLong = (nodeId: string): RunError => ({
  code: 'model_call_failed',
  message: `What was said and what tools gave in node ${nodeId} has more than ${MAX_SAID_CHARACTERS} characters, which no model reads.`,
  details: { class: 'context_length' },
  retryable: false,
});
