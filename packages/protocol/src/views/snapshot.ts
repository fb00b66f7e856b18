/** Renders the view of a run as a RunSnapshot. */
import type { Json, JsonObject } from '../json.ts';
import type { AgentCost, RunSnapshot } from '../runs/run-snapshot.ts';
import { channelValues } from './channels.ts';
import { own, put } from './dictionary.ts';
import { type InterruptView, oldestWait } from './interrupts.ts';
import type { NodeView } from './nodes.ts';
import type { RunView } from './run-view.ts';

/** Version of the event log's format, as the wire counts it. */
export const EVENT_LOG_SCHEMA_VERSION = 2;

/** An instant as it is written on the wire. */
export const isoTime = (at: number): string => new Date(at).toISOString();

/** A snapshot detached from the view: later events do not change it. */
export function runSnapshot(view: RunView): RunSnapshot {
  const waiting = oldestWait(view);
  return {
    runId: view.runId,
    workflowId: view.workflowId,
    ...(view.contextId !== null && { contextId: view.contextId }),
    status: view.status,
    ...(view.owner !== null && { owner: view.owner }),
    ...(view.currentNodeId !== null && { currentNodeId: view.currentNodeId }),
    ...(view.startedAt !== null && { startedAt: isoTime(view.startedAt) }),
    ...(view.endedAt !== null && { completedAt: isoTime(view.endedAt) }),
    ...(view.agent !== null && { agent: view.agent }),
    nodeStates: nodeStates(view.nodeStates),
    variables: masked(view.variables, view.sensitive),
    channels: channelValues(view.channels),
    ...(view.error !== null && { error: wireError(view.error) }),
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    tags: [...view.tags],
    ...(view.metadata !== null && { metadata: view.metadata }),
    ...(view.configurable !== null && { configurable: view.configurable }),
    ...(view.usage.calls > 0 && { metrics: { openwopCost: cost(view), ...costPerAgent(view) } }),
    ...(view.runOrchestrator !== null && { runOrchestrator: view.runOrchestrator }),
    ...(view.childRuns.length > 0 && { childRuns: view.childRuns.map((child) => ({ ...child })) }),
    ...(view.parentRunId !== null && { parentRunId: view.parentRunId }),
    ...(view.parentNodeId !== null && { parentNodeId: view.parentNodeId }),
    inputs: masked(view.inputs ?? {}, view.sensitive),
    ...(view.outputs !== null && { outputs: view.outputs }),
    ...(waiting !== undefined && { interrupt: interruptOf(waiting) }),
  };
}

/** What a view shows of a sensitive value. */
const MASK = '[REDACTED]';

/** A copy of the values, in which the sensitive ones are masked. */
function masked(values: JsonObject, sensitive: readonly string[] = []): Record<string, Json> {
  const shown: Record<string, Json> = { ...values };
  for (const name of sensitive) if (own(shown, name) != null) put(shown, name, MASK);
  return shown;
}

const interruptOf = (interrupt: InterruptView) => ({
  kind: interrupt.kind,
  nodeId: interrupt.nodeId,
  interruptId: interrupt.interruptId,
  payload: {
    kind: interrupt.kind,
    key: interrupt.key,
    data: interrupt.data,
    ...(interrupt.resumeSchema !== null && { resumeSchema: interrupt.resumeSchema }),
    ...(interrupt.timeoutMs !== null && { timeoutMs: interrupt.timeoutMs }),
  },
});

/** The closed error of a snapshot. Further fields of an open error stay in the event. */
const wireError = (error: NonNullable<RunView['error']>) => ({
  code: error.code,
  message: error.message,
  ...(error.details !== undefined && { details: error.details }),
});

function cost(view: RunView) {
  const { usage, startedAt } = view;
  return {
    usd: usage.costUsd,
    tokens: { input: usage.inputTokens, output: usage.outputTokens },
    ...(usage.model !== null && { model: usage.model }),
    ...(usage.provider !== null && { provider: usage.provider }),
    ...(startedAt !== null && { duration_ms: Math.max(0, (view.endedAt ?? view.lastAt) - startedAt) }),
  };
}

/** Usage per agent. Calls of nodes without an agent count in the total only. */
function costPerAgent({ agentUsage }: RunView) {
  const costs: Record<string, AgentCost> = {};
  for (const [agentId, usage] of Object.entries(agentUsage)) {
    const { calls, costUsd, inputTokens, outputTokens } = usage;
    put(costs, agentId, { calls, usd: costUsd, tokens: { input: inputTokens, output: outputTokens } });
  }
  return Object.keys(costs).length > 0 ? { agents: costs } : {};
}

function nodeStates(nodes: RunView['nodeStates']): Record<string, Json> {
  const states: Record<string, Json> = {};
  for (const [nodeId, node] of Object.entries(nodes)) put(states, nodeId, nodeState(node));
  return states;
}

const nodeState = (node: NodeView): JsonObject => ({
  status: node.status,
  ...(node.typeId !== null && { typeId: node.typeId }),
  attempt: node.attempt,
  visit: Math.max(0, node.visit),
  ...(node.startedAt !== null && { startedAt: isoTime(node.startedAt) }),
  ...(node.endedAt !== null && { endedAt: isoTime(node.endedAt) }),
  ...(node.outputs !== null && { outputs: node.outputs }),
  ...(node.error !== null && { error: node.error }),
});
