/** The fold behind every surface. It updates the view in place, at a cost that does not grow with the run. */

import type { TaskStatus } from '../events/cairn.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import type { FoldEvent } from '../events/event.ts';
import { isTerminalStatus } from '../runs/run-status.ts';
import { foldAgent, leaveAgents } from './agents.ts';
import { declareChannels, writeChannel } from './channels.ts';
import { childDispatched, childReturned, hasSubtasks, leaveChildren, superviseFrom } from './children.ts';
import { own, put } from './dictionary.ts';
import { forkGapMs, forkView } from './forked.ts';
import {
  closeAll,
  closeInterrupt,
  forwardToUser,
  interruptEnd,
  isSignIn,
  oldestWait,
  openInterrupt,
  recordTurn,
  recordVote,
  suspendOn,
} from './interrupts.ts';
import { endNode, type NodeResult, resumeNode, retryNode, startNode, suspendNode } from './nodes.ts';
import { type RunView, setTaskStatus } from './run-view.ts';
import { canFollow, statusOf } from './status.ts';
import { noteRestart, questionStatus } from './task-status.ts';
import { foldThoughts } from './thoughts.ts';
import { addUsage } from './usage.ts';
import { changeVariable, seedVariables } from './variables.ts';

/**
 * Folds one event into the view. It ignores unknown types and fields, and all events after a terminal one. The view keeps
 * payloads by reference and never changes them. Payloads are not parsed here; see `typedEvent`.
 */
export function foldRun(view: RunView, event: FoldEvent): void {
  const before = view.lastAt;
  view.lastSeq = event.seq;
  view.lastAt = event.at;
  view.ended = null;
  view.derived = null;
  if (isTerminalStatus(view.status)) return;
  switch (event.type) {
    // The most frequent rows first.
    case 'agent.reasoning.delta':
      break;
    case 'output.chunk':
      foldAgent(view, event);
      break;
    case 'run.started':
      if (view.status === 'pending') start(view, event.at, event.payload);
      break;
    case 'run.completed':
      view.outputs = event.payload.outputs ?? null;
      end(view, event, 'completed');
      break;
    case 'run.failed':
      // A log from another host may omit it.
      view.error = event.payload.error ?? null;
      end(view, event, 'failed');
      break;
    case 'run.cancelled':
      end(view, event, 'cancelled');
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
      changeVariable(view.variables, event.payload);
      break;
    case 'channel.written':
      writeChannel(view.channels, event.payload, event.at);
      break;
    case 'provider.usage':
      addUsage(view.usage, event.payload);
      foldAgent(view, event);
      break;
    case 'cairn.task.status':
      setTaskStatus(view, event.payload.status, event.seq);
      break;
    case 'cairn.run.forked':
      forkView(view, event, forkGapMs(event, before));
      break;
    default:
      foldNode(view, event);
  }
}

function foldNode(view: RunView, event: FoldEvent): void {
  switch (event.type) {
    case 'node.started': {
      const { isAgent } = startNode(view, event);
      superviseFrom(view, event.nodeId ?? event.payload.nodeId, event.payload);
      // Logs of other hosts have no `cairn.task.status` row.
      if (isAgent && view.taskStatus === null) setTaskStatus(view, 'working', event.seq);
      break;
    }
    case 'node.completed': {
      const { agent, handedTo = agent, nodeId, outputs } = event.payload;
      if (handedTo !== undefined) view.agent = handedTo;
      leaveNode(view, event.nodeId ?? nodeId, { end: 'completed', at: event.at, outputs });
      break;
    }
    case 'node.failed':
      leaveNode(view, event.nodeId ?? event.payload.nodeId, {
        end: 'failed',
        at: event.at,
        error: event.payload.error,
      });
      break;
    case 'node.skipped':
      leaveNode(view, event.nodeId ?? event.payload.nodeId, { end: 'skipped', at: event.at });
      break;
    case 'node.cancelled':
      leaveNode(view, event.nodeId ?? event.payload.nodeId, { end: 'cancelled', at: event.at });
      break;
    case 'node.retried': {
      const nodeId = event.nodeId ?? event.payload.nodeId;
      retryNode(view, nodeId, event.payload.lastError);
      foldThoughts(view, event);
      leaveAgents(view, nodeId);
      break;
    }
    case 'node.dispatched':
      childDispatched(view, event);
      refreshTask(view, event.seq);
      break;
    case 'core.workflowChain.event':
      if (event.payload.phase === 'dispatch.began') view.nextWorker = event.payload.workerId;
      break;
    case 'cairn.step.returned':
      childReturned(view, event.payload);
      if (event.payload.childRunId !== undefined && event.payload.error === undefined) refreshTask(view, event.seq);
      foldAgent(view, event);
      break;
    case 'artifact.created':
      keepArtifact(view, event.payload.artifactId);
      break;
    default:
      foldCall(view, event);
  }
}

/** Requests and results of calls, and what agents make of them. */
function foldCall(view: RunView, event: FoldEvent): void {
  switch (event.type) {
    case 'cairn.step.requested':
      noteRestart(view, event.payload, event.seq);
      break;
    case 'cairn.model.requested':
    case 'agent.toolCalled':
      noteRestart(view, event.payload, event.seq);
      foldThoughts(view, event);
      foldAgent(view, event);
      break;
    case 'cairn.model.returned':
    case 'agent.reasoned':
    case 'agent.decided':
    case 'agent.toolReturned':
    case 'runOrchestrator.decided':
      foldThoughts(view, event);
      foldAgent(view, event);
      break;
    default:
      foldInterrupt(view, event);
  }
}

function foldInterrupt(view: RunView, event: FoldEvent): void {
  switch (event.type) {
    case 'interrupt.requested': {
      const asked = event.payload;
      const nodeId = event.nodeId ?? asked.nodeId ?? '';
      // Logs of other hosts may omit the id; the key is unique in a run.
      const interruptId = asked.interruptId ?? asked.key;
      openInterrupt(view, { interruptId, nodeId, seq: event.seq, at: event.at }, asked);
      // A low-confidence decision suspends its node before its interrupt is requested.
      const node = own(view.nodeStates, nodeId);
      if (node?.status !== 'suspended' || node.interruptId !== interruptId) break;
      suspendOn(view, interruptId);
      refreshTask(view, event.seq);
      break;
    }
    case 'node.suspended': {
      const { nodeId, interruptId, othersRun } = event.payload;
      suspendNode(view, event.nodeId ?? nodeId, interruptId, event.at);
      suspendOn(view, interruptId);
      refresh(view);
      if (othersRun === true) break;
      const isOpen = Object.hasOwn(view.interrupts, interruptId);
      setTaskStatus(view, isOpen ? taskStatusOf(view) : 'waiting-input', event.seq);
      break;
    }
    case 'interrupt.resolved': {
      const { interruptId, reason } = event.payload;
      const asked = own(view.interrupts, interruptId);
      if (asked !== undefined) view.ended = isSignIn(asked) ? 'sign-in' : { askedAt: asked.requestedAt };
      closeInterrupt(view, interruptId, interruptEnd(reason));
      break;
    }
    case 'cairn.input.forwarded':
      forwardToUser(view, event.payload.inputId);
      break;
    case 'approval.received': {
      const interruptId = own(view.nodeStates, event.nodeId ?? event.payload.nodeId)?.interruptId;
      if (interruptId != null) recordVote(view, interruptId, event.payload);
      break;
    }
    case 'conversation.exchanged': {
      const interruptId = own(view.nodeStates, event.nodeId ?? '')?.interruptId;
      if (interruptId != null) recordTurn(view, interruptId, event.payload);
      break;
    }
    case 'node.resumed':
      resumeNode(view, event.nodeId ?? event.payload.nodeId);
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
  view.idToken = started.idToken ?? null;
  if (started.thoughtPolicy !== undefined) view.thoughtPolicy = started.thoughtPolicy;
  if (started.engineVersion !== undefined) view.engineVersion = started.engineVersion;
  if (started.internalEvents === true) view.internalEvents = true;
  view.parentRunId = started.parentRunId ?? null;
  view.parentNodeId = started.parentNodeId ?? null;
  view.variables = seedVariables(started.variables, started.inputs);
  if (started.sensitive !== undefined) view.sensitive = started.sensitive;
  view.channels = declareChannels(started.channels, at);
  const { agentId: actsAs } = started.actsAs ?? onlyAgent(started);
  if (actsAs !== undefined) view.actsAs = actsAs;
  for (const [agentId, { ref }] of Object.entries(started.agents ?? {})) put(view.agentRefs, agentId, ref);
}

/** Runs from before `actsAs` name their agents alone. */
function onlyAgent({ agents = {} }: PayloadOf<'run.started'>): { readonly agentId?: string } {
  const [agentId, ...others] = Object.keys(agents);
  return agentId === undefined || others.length > 0 ? {} : { agentId };
}

function end(view: RunView, { seq, at }: FoldEvent, status: 'completed' | 'failed' | 'cancelled'): void {
  view.status = status;
  view.endedAt = at;
  view.currentNodeId = null;
  view.subtasks = {};
  closeAll(view);
  setTaskStatus(view, status === 'cancelled' ? 'canceled' : status, seq);
}

/** A node ended. Its open interrupt closes with it, so the run may stop waiting. */
function leaveNode(view: RunView, nodeId: string, result: NodeResult): void {
  endNode(view, nodeId, result);
  leaveAgents(view, nodeId);
  leaveChildren(view, nodeId);
  refresh(view);
}

/** Sets the status that the open interrupts imply, unless the run is paused, cancelling or pending. */
function refresh(view: RunView): void {
  const status = statusOf(view.waits);
  view.currentNodeId = status === 'running' ? null : (oldestWait(view)?.nodeId ?? null);
  if (view.status !== 'paused' && view.status !== 'cancelling' && view.status !== 'pending') view.status = status;
}

/** As `refresh`, for events that also change the task view. A task that works beside its questions goes on with it. */
function refreshTask(view: RunView, seq: number): void {
  refresh(view);
  // The last status of a run that is being cancelled is that it is.
  if (view.status === 'cancelling') return;
  if (view.taskStatus === 'working' && questionStatus(view) !== null) return;
  setTaskStatus(view, taskStatusOf(view), seq);
}

function taskStatusOf(view: RunView): TaskStatus {
  const asked = questionStatus(view);
  if (asked !== null) return asked;
  return hasSubtasks(view) ? 'waiting-subtask' : 'working';
}

/** Bounds the list, so that the last event of a run stays small. */
const MAX_ARTIFACT_IDS = 1_000;

function keepArtifact({ artifactIds }: RunView, artifactId: string): void {
  if (artifactIds.length < MAX_ARTIFACT_IDS && !artifactIds.includes(artifactId)) artifactIds.push(artifactId);
}
