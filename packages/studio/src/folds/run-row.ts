/** An event as the folds of Studio read it. */
import { type EventDoc, eventPlace, type FoldEvent, typedEvent } from '@cairn/protocol';

/** `cause` is a sequence of the same run, or the full id of an event elsewhere. */
export type RunRow = FoldEvent;

/** Reads an event of the wire. */
export function rowOf(doc: EventDoc): RunRow {
  const { runId, sequence, timestamp, type, nodeId, causationId, payload } = doc;
  return typedEvent({
    seq: sequence,
    at: Date.parse(timestamp),
    type,
    nodeId,
    cause: causationId === undefined ? undefined : causeOf(runId, causationId),
    payload,
  });
}

/** A cause in the same run by its sequence; any other by its id, as it came. */
function causeOf(runId: string, causationId: string): RunRow['cause'] {
  const place = eventPlace(causationId);
  return place?.runId === runId ? place.seq : (causationId as RunRow['cause']);
}

/** The position of the last row whose sequence is at most `seq`; -1 if there is none. Rows are in order. */
export function positionOf(rows: ArrayLike<RunRow>, seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.seq ?? Number.POSITIVE_INFINITY) <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
