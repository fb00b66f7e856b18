/** Rows: events as a writer submits them, and as a store keeps them. */
import type { Audience, Cause, ContextId, Json, RunId } from '@cairn/protocol';

/** A row to be written. The store adds seq, cursor and hashes. Bodies are JSON text, serialised once by the writer. */
export interface NewRow {
  /** Instant in ms by the writer's clock. Never decreases within a run: the store moves a late fact up. */
  readonly at: number;
  readonly type: string;
  readonly nodeId?: string | undefined;
  readonly cause?: Cause | undefined;
  readonly audience: Audience;
  readonly payload: string;
  /** The task face: the body of the task event for this row, or null when the task view hides the row. */
  readonly task: string | null;
  /** What the row counts in quotas (`row-bytes.ts`), from a writer that has counted it. The store then does not. */
  readonly bytes?: number | undefined;
}

/** A stored row. Reads return it without parsing its bodies. */
export interface Row {
  readonly runId: RunId;
  readonly seq: number;
  readonly contextId: ContextId;
  readonly cursor: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Cause | null;
  readonly audience: Audience;
  /** Empty in a tombstone. */
  readonly payload: string;
  readonly task: string | null;
  /** What filters of the task view ask about the face (`tasks/face-columns.ts`); 0 when the view hides the row. */
  readonly face: number;
  readonly rowHash: string;
  readonly hash: string;
  /** As `rowBytes` counts them, if the store knows it without counting. */
  readonly bytes?: number | undefined;
  /** The payload as `foldEventOf` reads it, if the store shares large parts of it between rows. */
  readonly value?: Json;
}

/**
 * Whether the body of a row was purged. Its position, type and hashes stay, so that the chain can still be walked. Every
 * other payload is JSON text, which is never empty.
 */
export const isTombstone = ({ payload }: Pick<Row, 'payload'>): boolean => payload === '';

/** The size of a row's bodies as pages count it: characters of payload and task face. */
export const bodySize = (row: Pick<Row, 'payload' | 'task'>): number => row.payload.length + (row.task?.length ?? 0);

/** Whether a page ended because of its bounds, so that more rows may follow. */
export function isFull(rows: readonly Row[], page: { readonly limit: number; readonly maxBytes: number }): boolean {
  if (rows.length >= page.limit) return true;
  let bytes = 0;
  for (const row of rows) bytes += bodySize(row);
  return bytes >= page.maxBytes;
}

/** Largest event: payload and task face together, in UTF-8 bytes. */
export const MAX_EVENT_BYTES = 1_048_576;

/**
 * Largest request body that becomes part of an event. A payload has half of an event, because the task face may repeat
 * it; a sixteenth of the payload is for its other fields.
 */
export const MAX_EVENT_BODY_BYTES = (MAX_EVENT_BYTES / 2) * (15 / 16);
