/** A row as an OpenWOP client gets it. */
import type { Cause, RunEvent, RunEventDoc } from '../events/event.ts';
import { eventId, type RunId } from '../ids.ts';
import { isoTime } from './snapshot.ts';

/** The full id of a cause, wherever it lies. */
export const causationId = (runId: RunId, cause: Cause): string =>
  typeof cause === 'number' ? eventId(runId, cause) : cause;

/** Only the fields of the envelope; what a row has no value for is left out, never null. */
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
