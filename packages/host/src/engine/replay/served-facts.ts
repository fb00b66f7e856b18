/** Recorded facts as a replay writes them once it has left the record: at another place, for its own requests. */
import { type EventType, isJsonObject, type JsonObject, row } from '@cairn/protocol';
import type { Draft, RunState } from '../core/state.ts';
import { payloadOf, type RecordedRow } from './recorded-row.ts';
import type { RecordedFact } from './recorded-work.ts';

/** The row of the replay that asked for what the fact is about. */
export function anchorOf(state: RunState, { kind, id }: RecordedFact): number | undefined {
  if (kind === 'call') return state.calls[id]?.requestedSeq;
  return kind === 'answer' ? state.view.interrupts[id]?.seq : undefined;
}

/** A call that was repeated after a crash returned as a later attempt than the one that is open here. */
export function servedDraft(served: RecordedRow, cause: number | undefined, attempt: number | undefined): Draft {
  const payload = served.type === 'cairn.model.returned' ? withWholeTurn(payloadOf(served)) : payloadOf(served);
  const changed =
    attempt !== undefined && 'attempt' in payload && !('of' in payload) ? { ...payload, attempt } : payload;
  // The record pairs the type of a row with its payload.
  return row<EventType>(served.type as EventType, changed as never, {
    nodeId: served.nodeId ?? undefined,
    cause,
  }) as Draft;
}

/** The pieces of a streamed answer are not repeated here, so that its last one carries all of the text. */
function withWholeTurn(payload: JsonObject): JsonObject {
  const { turn } = payload;
  return isJsonObject(turn) ? { ...payload, turn: { ...turn, chunks: 0, tail: turn.text ?? '' } } : payload;
}
