/** Recorded facts as a replay writes them once it has left the record: at another place, for its own requests. */
import { type EventType, isCallResult, row } from '@cairn/protocol';
import type { Draft, RunState } from '../core/state.ts';
import { recordedBy } from '../fork/recorded-by.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { payloadOf, type RecordedRow, recordedEvent } from './recorded-row.ts';
import type { RecordedFact } from './recorded-work.ts';

/** The row of the replay that asked for what the fact is about. */
export function anchorOf(state: RunState, { kind, id }: RecordedFact): number | undefined {
  if (kind === 'call') return state.calls.get(id)?.requestedSeq;
  return kind === 'answer' ? state.view.interrupts[id]?.seq : undefined;
}

/** What a served row becomes in the replay. */
interface Served {
  readonly workflow: Workflow;
  readonly cause: number | undefined;
  /** A call that was repeated after a crash returned as a later attempt than the one that is open here. */
  readonly attempt: number | undefined;
}

export function servedDraft(served: RecordedRow, { workflow, cause, attempt }: Served): Draft {
  const payload = payloadWithoutPieces(served, workflow);
  const changed =
    attempt !== undefined && 'attempt' in payload && !('of' in payload) ? { ...payload, attempt } : payload;
  // The record pairs the type of a row with its payload.
  return row<EventType>(served.type as EventType, changed as never, {
    nodeId: served.nodeId ?? undefined,
    cause,
  }) as Draft;
}

/** The pieces of a streamed answer are not repeated here. */
function payloadWithoutPieces(served: RecordedRow, workflow: Workflow): object {
  const payload = payloadOf(served);
  const recorded = isCallResult(served.type) ? recordedBy(workflow, served.nodeId) : undefined;
  return recorded?.withoutPieces(recordedEvent(served, payload)) ?? payload;
}
