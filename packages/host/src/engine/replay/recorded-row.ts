/** Rows of a record, and what is compared between them and the rows that the present code decides. */
import {
  eventOf,
  type FoldEvent,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  typedEvent,
} from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { Draft } from '../core/state.ts';

/** The part of a stored row that a replay reads. A bundle and a store both give it. */
export type RecordedRow = Pick<Row, 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

/**
 * `output`: the same event with other contents. `type-mismatch`: another event. `missing`: the present code decides
 * nothing where the record has an event. `extra`: it decides an event after the end of the record.
 */
export type DivergenceKind = 'output' | 'missing' | 'extra' | 'type-mismatch';

/** The first place where the present code decides something else than the record holds. */
export interface Divergence {
  readonly seq: number;
  readonly kind: DivergenceKind;
  /** Null after the end of the record. */
  readonly recorded: RecordedRow | null;
  /** Null if the present code decides nothing here. */
  readonly present: Draft | null;
  /** Why the present code could not decide. */
  readonly error?: string;
}

/**
 * Returns the row as the present code writes it if it agrees with the record, else null. A definition gets the order of its
 * keys from its author or from the store, so the order may differ; the row is then that of the record.
 */
export function agreed(draft: Draft, row: RecordedRow): FoldEvent | null {
  if (!isSameEvent(draft, row) || (draft.cause ?? null) !== row.cause) return null;
  const text = JSON.stringify(draft.payload);
  if (text === row.payload) return eventOf(draft, row.seq, row.at);
  if (text.length !== row.payload.length) return null;
  const payload = payloadOf(row);
  // What JSON leaves out of a draft must not count.
  return jsonEquals(payloadOf({ payload: text }), payload) ? recordedEvent(row, payload) : null;
}

export function payloadOf({ payload }: Pick<RecordedRow, 'payload'>): JsonObject {
  const parsed: Json = JSON.parse(payload);
  return isJsonObject(parsed) ? parsed : {};
}

/** The event of a row whose payload has been parsed. */
export const recordedEvent = ({ seq, at, type, nodeId, cause }: RecordedRow, payload: JsonObject): FoldEvent =>
  typedEvent({ seq, at, type, nodeId: nodeId ?? undefined, cause: cause ?? undefined, payload });

export const isSameEvent = (draft: Draft, row: RecordedRow): boolean =>
  draft.type === row.type && (draft.nodeId ?? null) === row.nodeId;
