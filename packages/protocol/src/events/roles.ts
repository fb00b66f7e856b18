/**
 * What event types are to an engine that does not know who wrote them: requests and results of calls, pieces of a streamed
 * answer, events that may name a cause on another host. No schemas here, so that writers load none.
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

/** True for an event that requests a call. Its payload has the `callId`. */
export const isCallRequest = (type: string): boolean => requests.has(type);

/** True for an event that holds the result of a call. A fork may take it over from its source (`reusedFrom`). */
export const isCallResult = (type: string): boolean => results.has(type);

/** True for a part of an answer that is streamed. The complete text is in the result. */
export const isStreamedPiece = (type: string): boolean => pieces.has(type);

/** True for an event that may name a cause on another host. `agent.toolReturned` may too, but its call causes it. */
export const mayNameRemoteCause = (type: string): boolean => remotelyCaused.has(type);
