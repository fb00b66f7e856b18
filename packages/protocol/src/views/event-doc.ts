/** Renders an event as a RunEventDoc. */
import type { Cause, RunEvent, RunEventDoc } from '../events/event.ts';
import { eventId, type RunId } from '../ids.ts';
import { isoTime } from './snapshot.ts';

/** The full id of a cause. */
export const causationId = (runId: RunId, cause: Cause): string =>
  typeof cause === 'number' ? eventId(runId, cause) : cause;

/** Absent values are omitted, never null. */
export function eventDoc(event: RunEvent): RunEventDoc {
  return {
    eventId: eventId(event.runId, event.seq),
    runId: event.runId,
    type: event.type,
    payload: event.payload,
    timestamp: isoTime(event.at),
    sequence: event.seq,
    ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
    ...(event.cause !== undefined && { causationId: causationId(event.runId, event.cause) }),
  };
}
