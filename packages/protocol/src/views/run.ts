/** The fold behind every surface: it takes one event into the view, in place, at a cost that does not grow with the run. */
import type { FoldEvent } from '../event.ts';
import type { PayloadOf } from '../events/catalog.ts';
import { isTerminalStatus, type RunStatus } from '../run-status.ts';
import { foldAgent, leaveAgents } from './agents.ts';
import { declareChannels, writeChannel } from './channels.ts';
import { childDispatched, childReturned, superviseFrom } from './children.ts';
import { own, put } from './dictionary.ts';
import {
  closeAll,
  closeInterrupt,
  isSignIn,
  oldestWait,
  openInterrupt,
  recordTurn,
  recordVote,
  suspendOn,
} from './interrupts.ts';
import { endNode, type NodeEnd, resumeNode, retryNode, startNode, suspendNode } from './nodes.ts';
import { payloadAs } from './payload.ts';
import { type RunView, setTaskStatus } from './run-view.ts';
import { canFollow, statusOf } from './status.ts';
import { addUsage } from './usage.ts';
import { changeVariable, seedVariables } from './variables.ts';

/**
 * Take one event into the view. Unknown types and fields are ignored, and so is whatever follows a terminal event.
 * Payloads are kept by reference and never changed. They are not parsed here: see `typedEvent` for what holds them to their types.
 */
export function foldRun(view: RunView, event: FoldEvent): void {
  view.lastSeq = event.seq;
  view.lastAt = event.at;
  view.ended = null;
  if (isTerminalStatus(view.status)) return;
  switch (event.type) {
    // The most frequent rows of all first.
    case 'agent.reasoning.delta':
      break;
    case 'output.chunk':
      foldAgent(view, event);
      break;
    case 'run.started':
      if (view.status === 'pending') start(view, event.at, payloadAs<'run.started'>(event.payload));
      break;
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
      end(view, event);
      break;
    case 'run.paused':
      if (canFollow(view.status, 'paused')) view.status = 'paused';
      break;
    case 'run.resumed':
      if (view.status === 'paused') view.status = statusOf(view.waits);
      break;
    case 'cairn.cancel.requested':
      view.status = 'cancelling';
      break;
    case 'variable.changed':
      changeVariable(view.variables, payloadAs<'variable.changed'>(event.payload));
      break;
    case 'channel.written':
      writeChannel(view.channels, payloadAs<'channel.written'>(event.payload), event.at);
      break;
    case 'provider.usage':
      addUsage(view.usage, payloadAs<'provider.usage'>(event.payload));
      foldAgent(view, event);
      break;
    case 'cairn.task.status':
      setTaskStatus(view, payloadAs<'cairn.task.status'>(event.payload).status, event.seq);
      break;
    default:
      foldNode(view, event);
  }
}

function foldNode(view: RunView, event: FoldEvent): void {
  switch (event.type) {
    case 'node.started': {
      const started = payloadAs<'node.started'>(event.payload);
      const { isAgent } = startNode(view, event, started);
      superviseFrom(view, event.nodeId ?? started.nodeId, started);
      // Logs of other hosts have no row of their own that says so.
      if (isAgent && view.taskStatus === null) setTaskStatus(view, 'working', event.seq);
      break;
    }
    case 'node.completed': {
      const { agent } = payloadAs<'node.completed'>(event.payload);
      if (agent !== undefined) view.agent = agent;
      settle(view, event, 'completed');
      break;
    }
    case 'node.failed':
      settle(view, event, 'failed');
      break;
    case 'node.skipped':
      settle(view, event, 'skipped');
      break;
    case 'node.cancelled':
      settle(view, event, 'cancelled');
      break;
    case 'node.retried': {
      const retried = payloadAs<'node.retried'>(event.payload);
      retryNode(view, event.nodeId ?? retried.nodeId, retried.lastError);
      leaveAgents(view, event.nodeId ?? retried.nodeId);
      break;
    }
    case 'node.dispatched':
      childDispatched(view, payloadAs<'node.dispatched'>(event.payload));
      break;
    case 'cairn.step.returned':
      childReturned(view, event);
      foldAgent(view, event);
      break;
    default:
      foldInterrupt(view, event);
  }
}

function foldInterrupt(view: RunView, event: FoldEvent): void {
  switch (event.type) {
    case 'interrupt.requested': {
      const asked = payloadAs<'interrupt.requested'>(event.payload);
      const nodeId = event.nodeId ?? asked.nodeId ?? '';
      // Logs of other hosts may leave the id out; the key is unique in a run.
      const interruptId = asked.interruptId ?? asked.key;
      openInterrupt(view, { interruptId, nodeId, seq: event.seq, at: event.at }, asked);
      // A held decision suspends its node before it is put to anybody.
      const node = own(view.nodeStates, nodeId);
      if (node?.status !== 'suspended' || node.interruptId !== interruptId) break;
      suspendOn(view, interruptId);
      refreshTask(view, event.seq);
      break;
    }
    case 'node.suspended': {
      const { nodeId, interruptId } = payloadAs<'node.suspended'>(event.payload);
      suspendNode(view, event.nodeId ?? nodeId, interruptId, event.at);
      suspendOn(view, interruptId);
      if (Object.hasOwn(view.interrupts, interruptId)) refreshTask(view, event.seq);
      else setTaskStatus(view, 'waiting-input', event.seq);
      break;
    }
    case 'interrupt.resolved': {
      const { interruptId, reason } = payloadAs<'interrupt.resolved'>(event.payload);
      const asked = own(view.interrupts, interruptId);
      if (asked !== undefined && isSignIn(asked)) view.ended = 'sign-in';
      closeInterrupt(view, interruptId, reason === 'timeout' ? 'expired' : 'resolved');
      break;
    }
    case 'approval.received': {
      const received = payloadAs<'approval.received'>(event.payload);
      const interruptId = own(view.nodeStates, event.nodeId ?? received.nodeId)?.interruptId;
      if (interruptId != null) recordVote(view, interruptId, received);
      break;
    }
    case 'conversation.exchanged': {
      const interruptId = own(view.nodeStates, event.nodeId ?? '')?.interruptId;
      if (interruptId != null) recordTurn(view, interruptId, payloadAs<'conversation.exchanged'>(event.payload));
      break;
    }
    case 'node.resumed':
      resumeNode(view, event.nodeId ?? payloadAs<'node.resumed'>(event.payload).nodeId);
      refreshTask(view, event.seq);
      break;
    default:
      foldAgent(view, event);
  }
}

function start(view: RunView, at: number, started: PayloadOf<'run.started'>): void {
  view.status = 'running';
  view.startedAt = at;
  view.workflowId = started.workflowId;
  view.definitionHash = started.definitionHash ?? null;
  view.workflowVersion = started.workflowVersion ?? null;
  view.owner = started.owner ?? null;
  view.inputs = started.inputs ?? null;
  view.tags = started.tags ?? [];
  view.metadata = started.metadata ?? null;
  view.configurable = started.configurable ?? null;
  view.toolScopes = started.toolScopes ?? null;
  view.contextId = started.contextId ?? null;
  view.parentRunId = started.parentRunId ?? null;
  view.parentNodeId = started.parentNodeId ?? null;
  view.variables = seedVariables(started.variables ?? started.inputs);
  view.channels = declareChannels(started.channels, at);
  for (const [agentId, { ref }] of Object.entries(started.agents ?? {})) put(view.agentRefs, agentId, ref);
}

const statusAfter: Record<string, RunStatus> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

function end(view: RunView, event: FoldEvent): void {
  const status = statusAfter[event.type] as RunStatus;
  view.status = status;
  view.endedAt = event.at;
  view.currentNodeId = null;
  closeAll(view);
  if (status === 'completed') {
    view.outputs = payloadAs<'run.completed'>(event.payload).outputs ?? null;
    setTaskStatus(view, 'completed', event.seq);
  } else if (status === 'failed') {
    view.error = payloadAs<'run.failed'>(event.payload).error ?? null;
    setTaskStatus(view, 'failed', event.seq);
  } else {
    setTaskStatus(view, 'canceled', event.seq);
  }
}

/** A node ended. An interrupt it still held is closed with it, so the run may have stopped waiting. */
function settle(view: RunView, event: FoldEvent, how: NodeEnd): void {
  const { nodeId, outputs } = payloadAs<'node.completed'>(event.payload);
  const { error } = payloadAs<'node.failed'>(event.payload);
  endNode(view, event.nodeId ?? nodeId, { end: how, at: event.at, outputs, error });
  leaveAgents(view, event.nodeId ?? nodeId);
  refresh(view);
}

/** Show what the open questions say, unless the run is paused, cancelling or not yet started. */
function refresh(view: RunView): void {
  const status = statusOf(view.waits);
  view.currentNodeId = status === 'running' ? null : (oldestWait(view)?.nodeId ?? null);
  if (view.status !== 'paused' && view.status !== 'cancelling' && view.status !== 'pending') view.status = status;
}

/** As `refresh`, for the two events that also show the change in the task view. */
function refreshTask(view: RunView, seq: number): void {
  refresh(view);
  const isWaiting = statusOf(view.waits) !== 'running';
  setTaskStatus(view, isWaiting ? (view.signIns > 0 ? 'waiting-auth' : 'waiting-input') : 'working', seq);
}
