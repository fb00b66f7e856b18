/**
 * What event types are to an engine that does not know who wrote them: requests and results of calls, pieces of a streamed
 * answer, events that may name a cause on another host, facts and decisions. No schemas here, so that writers load none.
 */
import type { EventType } from './catalogue.ts';

const setOf = (...types: readonly EventType[]): ReadonlySet<string> => new Set(types);

const requests = setOf('cairn.step.requested', 'cairn.model.requested', 'agent.toolCalled');

const results = setOf('cairn.step.returned', 'cairn.model.returned', 'agent.toolReturned');

const pieces = setOf('output.chunk', 'agent.reasoning.delta', 'cairn.tool.progress');

const remotelyCaused = setOf(
  'agent.reasoned',
  'agent.toolCalled',
  'agent.handoff',
  'agent.decided',
  'runOrchestrator.decided',
  'core.workflowChain.event',
  'core.workflowChain.confidence-escalated',
  'prompt.composed',
  'agent.promptResolved',
);

const facts = setOf(
  'run.started',
  'run.resumed',
  'cairn.callback.requested',
  'cairn.cancel.requested',
  'cairn.pause.requested',
  'cairn.run.forked',
  'cairn.values.sealed',
  'conversation.exchanged',
  'replay.diverged',
);

const decided = setOf(
  'agent.decided',
  'agent.handoff',
  'agent.invocation.completed',
  'agent.invocation.started',
  'agent.promptResolved',
  'agent.toolCalled',
  'approval.requested',
  'cairn.budget.granted',
  'cairn.error',
  'cairn.input.forwarded',
  'cairn.internal.checkpoint',
  'cairn.internal.llm_call',
  'cairn.internal.thought',
  'cairn.model.abandoned',
  'cairn.model.requested',
  'cairn.step.requested',
  'cairn.task.status',
  'cairn.timer.set',
  'clarification.requested',
  'conversation.closed',
  'conversation.opened',
  'core.workflowChain.confidence-escalated',
  'interrupt.requested',
  'node.cancelled',
  'node.completed',
  'node.failed',
  'node.retried',
  'node.skipped',
  'node.started',
  'node.suspended',
  'prompt.composed',
  'provider.usage',
  'run.cancelled',
  'run.completed',
  'run.failed',
  'run.paused',
  'runOrchestrator.decided',
  'workflow.loopback-limit',
);

/** True for an event that requests a call. Its payload has the `callId`. */
export const isCallRequest = (type: string): boolean => requests.has(type);

/** True for an event that holds the result of a call. A fork may take it over from its source (`reusedFrom`). */
export const isCallResult = (type: string): boolean => results.has(type);

/** True for a part of an answer that is streamed. The complete text is in the result. */
export const isStreamedPiece = (type: string): boolean => pieces.has(type);

/** True for an event that may name a cause on another host. `agent.toolReturned` may too, but its call causes it. */
export const mayNameRemoteCause = (type: string): boolean => remotelyCaused.has(type);

/** True for an event that no decision writes: it came from outside the engine. */
export const isAlwaysFact = (type: string): boolean => facts.has(type);

/** True for an event that only decisions write. A call in progress never emits it. */
export const isOnlyDecided = (type: string): boolean => decided.has(type);
