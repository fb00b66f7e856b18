/** The agents of a run: who acts in which node, their usage, their open tool calls. */
import type { AgentRef } from '../agents/agent-ref.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import type { EventOf, FoldEvent } from '../events/event.ts';
import { SUPERVISOR } from './children.ts';
import { own, put } from './dictionary.ts';
import type { Nodes } from './nodes.ts';
import { dropBlocks, type Streams, streamPiece } from './streams.ts';
import { addUsage, noUsage, type UsageView } from './usage.ts';

export interface ToolCallView {
  readonly nodeId: string;
  readonly toolName: string;
  /** seq of the row that requested it first. */
  readonly seq: number;
}

/** The part of a run's view that holds it. */
export interface Agents extends Nodes, Streams {
  /** The AgentRefs of the pinned agents. */
  agentRefs: Record<string, AgentRef>;
  agentUsage: Record<string, UsageView>;
  /** Open calls, by callId. */
  toolCalls: Record<string, ToolCallView>;
  /** Tool calls so far, returned or not. */
  toolCallCount: number;
  /** Thoughts shown so far. */
  thoughts: number;
}

/** Folds agent and model events. Other types, known or unknown, change nothing. */
export function foldAgent(view: Agents, event: FoldEvent): void {
  switch (event.type) {
    case 'output.chunk':
      streamPiece(view, event, (nodeId) => agentIn(view, nodeId));
      if (event.payload.isLast) noteAnswer(view, event);
      break;
    case 'provider.usage':
      spend(view, event);
      break;
    case 'agent.reasoned':
      if (isThought(event.payload)) view.thoughts += 1;
      break;
    case 'agent.decided':
      if (!isPlainAnswer(view, event)) view.thoughts += 1;
      break;
    case 'agent.toolCalled':
      openToolCall(view, event);
      break;
    case 'agent.toolReturned':
      closeToolCall(view, event.payload.callId);
      break;
    case 'agent.invocation.started': {
      const { agentId } = event.payload;
      act(view, event.nodeId, own(view.agentRefs, agentId) ?? { agentId });
      break;
    }
    case 'agent.handoff': {
      const { to, toAgentId, context } = event.payload;
      // With a subtask a child run does the work; the acting agent stays.
      if (context?.subtaskId === undefined) act(view, event.nodeId, to ?? { agentId: toAgentId });
      break;
    }
    case 'cairn.model.requested':
    case 'cairn.model.abandoned': {
      const nodeId = event.nodeId ?? event.payload.nodeId;
      dropBlocks(view, nodeId);
      const node = own(view.nodeStates, nodeId);
      if (node !== undefined) node.hasAnswered = false;
      break;
    }
    case 'cairn.step.returned': {
      const { nodeId, callId, suspended } = event.payload;
      const node = own(view.nodeStates, event.nodeId ?? nodeId);
      if (node !== undefined && suspended !== undefined) node.pausedCallId = callId;
    }
  }
}

/** Suppressed or empty reasoning is recorded, but is not a thought. */
export const isThought = ({ reasoning, verbosity }: PayloadOf<'agent.reasoned'>): boolean =>
  reasoning !== '' && verbosity !== 'off';

function noteAnswer(view: Agents, { nodeId, payload }: EventOf<'output.chunk'>): void {
  const node = own(view.nodeStates, nodeId ?? payload.nodeId);
  if (node !== undefined) node.hasAnswered = payload.meta?.finishReason !== 'tool_calls';
}

/**
 * Whether a decision only repeats the answer that the node's text has shown. A decision that states a confidence, or on
 * which a dispatch node acts, is more than that.
 */
export function isPlainAnswer({ nodeStates }: Agents, { nodeId, payload }: EventOf<'agent.decided'>): boolean {
  const node = own(nodeStates, nodeId ?? '');
  if (node === undefined || !node.hasAnswered || node.typeId === SUPERVISOR) return false;
  return payload.confidence === undefined && payload.invalidConfidence === undefined;
}

const agentIn = (view: Agents, nodeId: string): string | null => own(view.nodeStates, nodeId)?.agentId ?? null;

function act(view: Agents, nodeId: string | undefined, agent: AgentRef): void {
  view.agent = agent;
  const node = nodeId === undefined ? undefined : own(view.nodeStates, nodeId);
  if (node !== undefined) node.agentId = agent.agentId;
}

function spend(view: Agents, { nodeId, payload: call }: EventOf<'provider.usage'>): void {
  const agentId = agentIn(view, nodeId ?? call.nodeId ?? '');
  if (agentId === null) return;
  let usage = own(view.agentUsage, agentId);
  if (usage === undefined) {
    usage = noUsage();
    put(view.agentUsage, agentId, usage);
  }
  addUsage(usage, call);
}

/** A repeated request belongs to the same call. */
function openToolCall(view: Agents, { nodeId = '', seq, payload: called }: EventOf<'agent.toolCalled'>): void {
  if (Object.hasOwn(view.toolCalls, called.callId)) return;
  view.toolCallCount += 1;
  put(view.toolCalls, called.callId, { nodeId, toolName: called.toolName, seq });
}

function closeToolCall(view: Agents, callId: string): void {
  if (!Object.hasOwn(view.toolCalls, callId)) return;
  delete view.toolCalls[callId];
  view.ended = 'tool-call';
}

/** The node ended; its open blocks and tool calls end with it. */
export function leaveAgents(view: Agents, nodeId: string): void {
  dropBlocks(view, nodeId);
  for (const callId in view.toolCalls) if (view.toolCalls[callId]?.nodeId === nodeId) delete view.toolCalls[callId];
}
