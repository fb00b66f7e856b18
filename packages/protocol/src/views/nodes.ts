/** The nodes of a run: the latest state of each, and its tool call in the task view. */
import type { AgentRef } from '../agents/agent-ref.ts';
import type { EventOf } from '../events/event.ts';
import type { ErrorObject } from '../fields.ts';
import { payloadId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { own, put } from './dictionary.ts';
import { closeInterrupt, type Interrupts } from './interrupts.ts';

export type NodeStatus = 'running' | 'suspended' | 'retrying' | 'completed' | 'failed' | 'skipped' | 'cancelled';
export type NodeEnd = 'completed' | 'failed' | 'skipped' | 'cancelled';

export interface NodeView {
  status: NodeStatus;
  typeId: string | null;
  /** 0 for the first attempt of a visit. */
  attempt: number;
  /** The number of earlier visits; -1 before the first. */
  visit: number;
  /** Started and not ended. */
  active: boolean;
  /** seq of the `node.started` that began this visit. */
  visitSeq: number;
  /** Of the visit, and of its latest attempt. */
  visitedAt: number | null;
  startedAt: number | null;
  suspendedAt: number | null;
  endedAt: number | null;
  /** The visit's tool call in the task view; null if the node never started or is an agent. */
  toolCallId: string | null;
  /** The node runs an agent. */
  isAgent: boolean;
  /** The agent that acts, or acted last. */
  agentId: string | null;
  /** The agent's tool call that was suspended last. */
  pausedCallId: string | null;
  /** The model's latest text ended its turn: it is an answer, and no remark before a tool call. */
  hasAnswered: boolean;
  /** The node records reasoning, in this visit. */
  thinks?: true;
  /** The model's latest turn calls several tools, which run side by side. */
  callsAtOnce?: true;
  /** The row of its last decision. */
  decidedSeq?: number;
  /** Why the last attempt failed, and which tool did, until the model is asked again. */
  failure?: string;
  trouble?: { readonly callId: string; readonly text: string };
  /** The interrupt the node asked last, open or not. */
  interruptId: string | null;
  outputs: JsonObject | null;
  error: ErrorObject | null;
}

/** The part of a run's view that holds them. */
export interface Nodes extends Interrupts {
  readonly idToken: string | null;
  nodeStates: Record<string, NodeView>;
  /** Nodes that have started and not ended. */
  activeNodes: number;
  /** The agent that acted last. */
  agent: AgentRef | null;
}

/** Node types that run an agent, call a tool, or are the work of the host itself. The task view shows them as the task itself, not as a tool call. */
const agentTypeIds: ReadonlySet<string> = new Set([
  'cairn.agent',
  'core.ai.callPrompt',
  'core.ai.structuredOutput',
  'core.mcp.toolCall',
  'core.conformance.mock-agent',
  'cairn.artifact.edit',
]);

const isAgentType = (typeId: string): boolean => agentTypeIds.has(typeId);

const newNode = (): NodeView => ({
  status: 'running',
  typeId: null,
  attempt: 0,
  visit: -1,
  active: false,
  visitSeq: -1,
  visitedAt: null,
  startedAt: null,
  suspendedAt: null,
  endedAt: null,
  toolCallId: null,
  isAgent: false,
  agentId: null,
  pausedCallId: null,
  hasAnswered: false,
  interruptId: null,
  outputs: null,
  error: null,
});

function nodeOf(view: Nodes, nodeId: string): NodeView {
  let node = own(view.nodeStates, nodeId);
  if (node === undefined) {
    node = newNode();
    put(view.nodeStates, nodeId, node);
  }
  return node;
}

/** A start of an active node is another attempt of its visit; any other start begins a new visit. */
export function startNode(view: Nodes, event: EventOf<'node.started'>): NodeView {
  const started = event.payload;
  const nodeId = event.nodeId ?? started.nodeId;
  const node = nodeOf(view, nodeId);
  if (!node.active) {
    node.active = true;
    forgetVisit(node);
    node.visit = started.visit ?? node.visit + 1;
    node.visitSeq = event.seq;
    node.visitedAt = event.at;
    node.isAgent = isAgentType(started.typeId);
    node.toolCallId = node.isAgent ? null : payloadId(view.idToken, 'call', `${nodeId}#${node.visit}`);
    view.activeNodes += 1;
  }
  node.status = 'running';
  node.typeId = started.typeId;
  node.agentId = started.agent?.agentId ?? null;
  node.pausedCallId = null;
  node.hasAnswered = false;
  node.attempt = started.attempt ?? 0;
  node.startedAt = event.at;
  node.suspendedAt = null;
  node.endedAt = null;
  node.outputs = null;
  node.error = null;
  if (started.agent !== undefined) view.agent = started.agent;
  return node;
}

/** Looks before it deletes: deleting is a call of the runtime, also when the field is absent. */
function forgetVisit(node: NodeView): void {
  if (node.thinks !== undefined) delete node.thinks;
  if (node.decidedSeq !== undefined) delete node.decidedSeq;
  if (node.failure !== undefined) delete node.failure;
  if (node.trouble !== undefined) delete node.trouble;
}

export interface NodeResult {
  readonly end: NodeEnd;
  readonly at: number;
  readonly outputs?: JsonObject | undefined;
  readonly error?: ErrorObject | undefined;
}

/** The node ended, and its open interrupt with it. A node that never started has no tool call. */
export function endNode(view: Nodes, nodeId: string, result: NodeResult): void {
  const node = nodeOf(view, nodeId);
  if (node.active) {
    node.active = false;
    view.activeNodes -= 1;
    closeQuestions(view, nodeId, node);
  } else {
    node.toolCallId = null;
    node.isAgent = false;
    node.visitedAt = null;
  }
  node.status = result.end;
  node.suspendedAt = null;
  node.endedAt = result.at;
  node.outputs = result.outputs ?? null;
  node.error = result.error ?? null;
}

/** An agent may wait for several answers at once, any other node for one. */
function closeQuestions(view: Nodes, nodeId: string, { isAgent, interruptId }: NodeView): void {
  if (isAgent) {
    for (const id of Object.keys(view.interrupts)) {
      if (own(view.interrupts, id)?.nodeId === nodeId) closeInterrupt(view, id, 'cancelled');
    }
  } else if (interruptId !== null) closeInterrupt(view, interruptId, 'cancelled');
}

/** The attempt failed and another will follow; the visit, and its call, stay open. */
export function retryNode(view: Nodes, nodeId: string, lastError: ErrorObject | undefined): void {
  const node = nodeOf(view, nodeId);
  node.status = 'retrying';
  node.error = lastError ?? null;
}

export function suspendNode(view: Nodes, nodeId: string, interruptId: string, at: number): void {
  const node = nodeOf(view, nodeId);
  node.status = 'suspended';
  node.suspendedAt = at;
  node.interruptId = interruptId;
}

export function resumeNode(view: Nodes, nodeId: string): void {
  const node = nodeOf(view, nodeId);
  node.status = 'running';
  node.suspendedAt = null;
}
