/** Builds the rows that start, complete, fail and retry nodes. */
import { type AgentRef, isCairnError, type Json, type JsonObject, row } from '@cairn/protocol';
import { asOutputs } from '../nodes/values.ts';
import { nothingPinned, type Pinned } from '../pins/pinned.ts';
import { type CostBudget, costBudget } from '../values/cost-budget.ts';
import type { Scope } from '../values/expressions.ts';
import { retryDelay } from '../workflow/node-settings.ts';
import type { NodeAction, NodeContext } from '../workflow/node-type.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import { arrivedEdges, resolveInputs } from './inputs.ts';
import { activeNode, nodeById } from './node-of.ts';
import type { PayloadDraft } from './payload-draft.ts';
import { refuseHugePayload } from './run-size.ts';
import { scopeOf } from './scope.ts';
import type { Decision, Draft, EdgeOutcome, Queued, RunError, RunState } from './state.ts';

const rows = (...drafts: Draft[]): Decision => ({ drafts, effects: [] });

/** Starts a ready node, or writes the row that says why it cannot start. */
export function startNode(state: RunState, workflow: Workflow, entry: Queued): Decision {
  const node = nodeById(workflow, entry.nodeId);
  if (node.node.disabled === true) return passBy(state, node, entry.cause);
  if (node.type.missingCapability !== undefined) return rows(refuse(node, node.type.missingCapability, entry.cause));
  const tooOften = loopbackBreach(state, workflow, entry) ?? executionBreach(state, node.id, entry.cause);
  if (tooOften !== undefined) return rows(tooOften);
  const arrived = arrivedEdges(state, workflow, node, entry);
  const expressionBudget = costBudget(node.expressionCost);
  const contextWith = (inputs: JsonObject): NodeContext => {
    const iteration = entry.edge === undefined ? 0 : (state.iterations[node.id] ?? 0) + 1;
    const visit = { ...firstAttempt, visit: state.visits[node.id] ?? 0, iteration, inputs };
    const sources = arrived.map((edge) => edge.source);
    return contextOf(state, { node, pinned: workflow, sources, expressionBudget }, visit);
  };
  let inputs: JsonObject;
  try {
    inputs = resolveInputs({ state, compiled: node, expressionBudget }, arrived);
  } catch (error) {
    const context = contextWith({});
    const failed = failNode(context, errorOf(error), state.nextSeq);
    return charged(expressionBudget, rows(started(context, entry.cause), ...failed));
  }
  return begin(contextWith(inputs), entry.cause);
}

/** Starts the next attempt of a node with the inputs of the first. */
export function startAgain(state: RunState, context: NodeContext, cause: number): Decision {
  const breach = executionBreach(state, context.node.id, cause);
  if (breach !== undefined) return rows(breach);
  return begin(context, cause);
}

function begin(context: NodeContext, cause: number): Decision {
  const first = started(context, cause);
  // Before a node makes a text of its inputs.
  refuseHugePayload(first);
  const performed = perform(context, () => context.compiled.type.begin(context), context.state.nextSeq);
  return { ...performed, drafts: [first, ...performed.drafts] };
}

interface NodePlace extends Pick<NodeContext, 'sources' | 'expressionBudget'> {
  readonly node: CompiledNode;
  readonly pinned: Pinned;
}

type Visit = Pick<NodeContext, 'visit' | 'attempt' | 'iteration' | 'inputs' | 'callAttempts' | 'abandoned'>;

const firstAttempt = { attempt: 0, callAttempts: 0, abandoned: 0 };

/** Each decision makes one: field by field, because a copy of part of it costs as much again. */
function contextOf(state: RunState, { node, pinned, sources, expressionBudget }: NodePlace, of: Visit): NodeContext {
  return {
    runId: state.payloadRunId,
    node: node.node,
    config: node.config,
    compiled: node,
    inputs: of.inputs,
    visit: of.visit,
    attempt: of.attempt,
    iteration: of.iteration,
    sources,
    now: state.now,
    callAttempts: of.callAttempts,
    abandoned: of.abandoned,
    agents: pinned.agents,
    prompts: pinned.prompts,
    expressionBudget,
    state,
  };
}

const noSources: readonly string[] = [];

/** Returns the context of an active node. */
export function activeContext(state: RunState, node: CompiledNode, pinned: Pinned): NodeContext {
  const { visit, attempt, inputs, callAttempts, abandoned } = activeNode(state, node.id);
  const iteration = state.iterations[node.id] ?? 0;
  const place = { node, pinned, sources: noSources, expressionBudget: costBudget(node.expressionCost) };
  return contextOf(state, place, { visit, attempt, iteration, inputs, callAttempts, abandoned });
}

function started(context: NodeContext, cause: number): Draft {
  const { node, compiled, attempt, visit, inputs } = context;
  const payload: PayloadDraft<'node.started'> = { nodeId: node.id, typeId: node.typeId, attempt, visit };
  const agent = agentRefOf(context, node.agent?.agentId);
  if (agent !== undefined) payload.agent = agent;
  if (compiled.timeoutMs !== null) payload.timeoutMs = compiled.timeoutMs;
  payload.inputs = inputs;
  return row('node.started', payload, { nodeId: node.id, cause });
}

/** Turns a node's action into rows. An error it throws fails the node. */
export const perform = (context: NodeContext, act: () => NodeAction, cause: number): Decision =>
  charged(context.expressionBudget, performed(context, act, cause));

/** Adds what the expressions have cost. Most decisions evaluate none. */
const charged = ({ limit, left }: CostBudget, decision: Decision): Decision =>
  left === limit ? decision : { ...decision, cost: limit - left };

function performed(context: NodeContext, act: () => NodeAction, cause: number): Decision {
  let action: NodeAction;
  try {
    action = act();
    if (action.kind === 'complete') return rows(...completed(context, action, cause));
  } catch (error) {
    return rows(...failNode(context, errorOf(error), cause));
  }
  if (action.kind === 'fail') {
    return rows(...withCause(action.drafts ?? [], cause), ...failNode(context, action.error, cause));
  }
  return { drafts: withCause(action.drafts, cause), effects: action.effects ?? [] };
}

/** Completes a node with the result of its call. */
export const endNode = (context: NodeContext, outcome: Json, cause: number): Decision =>
  perform(context, () => ({ kind: 'complete', outputs: asOutputs(outcome) }), cause);

/** Sets the cause of each draft that has none. */
export const withCause = <Row extends Draft>(drafts: readonly Row[], cause: number): Row[] =>
  drafts.map((draft) => (draft.cause === undefined ? { ...draft, cause } : draft));

function completed(
  context: NodeContext,
  { outputs, ports, drafts = [], agentId, endsRun }: Extract<NodeAction, { kind: 'complete' }>,
  cause: number,
): Draft[] {
  const { compiled, node, state, now } = context;
  const edges = edgeOutcomes(context, outputs, ports, drafts);
  const startedAt = state.active[compiled.id]?.startedAt ?? now;
  const payload: PayloadDraft<'node.completed'> = { nodeId: node.id, outputs, durationMs: now - startedAt, edges };
  const agent = agentRefOf(context, node.agent?.agentId);
  if (agent !== undefined) payload.agent = agent;
  if (agent !== undefined && agentId !== undefined && agentId !== agent.agentId) {
    payload.handedTo = agentRefOf(context, agentId) ?? { agentId };
  }
  if (endsRun !== undefined) payload.endsRun = endsRun;
  return [...withCause(drafts, cause), row('node.completed', payload, { nodeId: node.id, cause })];
}

/**
 * The reference of an agent on the wire. The ref in a definition is a request: for a pinned agent the pin's ref stands
 * in full. For any other agent the definition says no memory, and a source manifest only if that is pinned.
 */
export function agentRefOf(
  { node, state }: Pick<NodeContext, 'node' | 'state'>,
  agentId: string | undefined,
): AgentRef | undefined {
  if (agentId === undefined) return undefined;
  const pin = Object.hasOwn(state.agents, agentId) ? state.agents[agentId] : undefined;
  if (pin !== undefined) return pin.ref;
  if (node.agent?.agentId !== agentId) return undefined;
  const { memoryRef: _, sourceManifestId, ...ref } = node.agent;
  const hasSource = sourceManifestId !== undefined && Object.hasOwn(state.agents, sourceManifestId);
  return hasSource ? { ...ref, sourceManifestId } : ref;
}

/**
 * Returns the outcome of each edge. An edge is taken if its port is activated and its condition holds. Throws
 * `expression_failed`.
 */
function edgeOutcomes(
  context: NodeContext,
  outputs: JsonObject,
  ports: readonly string[] | undefined,
  drafts: readonly Draft[],
): Record<string, EdgeOutcome> {
  const { compiled, expressionBudget } = context;
  const edges: Record<string, EdgeOutcome> = {};
  let scope: Scope | undefined;
  for (const edge of compiled.out) {
    const port = edge.port ?? 'output';
    const open = ports === undefined ? port === 'output' || Object.hasOwn(outputs, port) : ports.includes(port);
    let taken = open;
    if (open && edge.condition !== null) {
      scope ??= scopeOf(context, outputs, drafts);
      taken = edge.condition(scope, expressionBudget);
    }
    edges[edge.id] = taken ? 'taken' : 'not-taken';
  }
  return edges;
}

/** Retries the node if the error and its settings allow it; otherwise fails the node. */
export function failNode(context: NodeContext, error: RunError, cause: number): Draft[] {
  const { compiled, attempt } = context;
  const nodeId = compiled.id;
  const failures = attempt - context.abandoned;
  if (error.retryable !== false && failures < compiled.retry.maxRetries) {
    const delayMs = retryDelay(compiled.retry, failures + 1);
    const payload = { nodeId, attempt: attempt + 1, delayMs, lastError: error };
    return [row('node.retried', payload, { nodeId, cause })];
  }
  const payload = { nodeId, error, attempts: attempt + 1, edges: allFailed(compiled) };
  return [row('node.failed', payload, { nodeId, cause })];
}

const allFailed = ({ out }: CompiledNode): Record<string, EdgeOutcome> =>
  Object.fromEntries(out.map((edge) => [edge.id, 'failed']));

/** Skips a disabled node. The run continues past it as if the node had no outputs. */
function passBy(state: RunState, node: CompiledNode, cause: number): Decision {
  const expressionBudget = costBudget(node.expressionCost);
  const place = { node, pinned: nothingPinned, sources: noSources, expressionBudget };
  const context = contextOf(state, place, { ...firstAttempt, visit: 0, iteration: 0, inputs: {} });
  try {
    const ports = node.out.map((edge) => edge.port ?? 'output');
    const edges = edgeOutcomes(context, {}, ports, []);
    const payload = { nodeId: node.id, reason: 'disabled', edges };
    return charged(context.expressionBudget, rows(row('node.skipped', payload, { nodeId: node.id, cause })));
  } catch (error) {
    return charged(context.expressionBudget, rows(...failNode(context, errorOf(error), cause)));
  }
}

/** The node is not executed: it neither starts nor counts as an execution. */
function refuse(node: CompiledNode, capability: string, cause: number): Draft {
  const message = `Node ${node.id} of type ${node.type.typeId} needs ${capability}, which this host does not provide.`;
  const error: RunError = { code: 'capability_not_provided', message, retryable: false };
  const payload = { nodeId: node.id, error, edges: allFailed(node) };
  return row('node.failed', payload, { nodeId: node.id, cause });
}

function executionBreach(state: RunState, nodeId: string, cause: number): Draft | undefined {
  const limit = state.limits.maxNodeExecutions;
  if (state.executions < limit) return undefined;
  return row('cap.breached', { kind: 'node-executions', limit, observed: limit + 1, nodeId }, { nodeId, cause });
}

function loopbackBreach(state: RunState, workflow: Workflow, entry: Queued): Draft | undefined {
  const limit = workflow.maxLoopbacks;
  if (limit === null || entry.edge === undefined) return undefined;
  const iterations = state.loopbacks[entry.edge] ?? 0;
  if (iterations <= limit) return undefined;
  const { nodeId, cause } = entry;
  return row('workflow.loopback-limit', { nodeId, iterations, limit }, { nodeId, cause });
}

/** Only classified errors become part of a run's history; others are defects and are rethrown. */
function errorOf(error: unknown): RunError {
  if (!isCairnError(error) || error.code === 'internal_error') throw error;
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    ...(error.details === undefined ? {} : { details: error.details as JsonObject }),
  };
}
