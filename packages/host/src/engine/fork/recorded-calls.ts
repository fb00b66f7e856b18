/**
 * What the driver of a node says about the rows of its calls, so that branches and replays read a record without knowing
 * who wrote it.
 */
import type { FoldEvent, JsonObject } from '@cairn/protocol';
import type { OpenCall } from '../core/state.ts';
import type { Sha256 } from '../ports.ts';
import type { CallResult } from '../workflow/driven-calls.ts';

/** A row that requests a call. Equal requests have equal keys. */
export interface RecordedRequest {
  readonly callId: string;
  readonly key: string;
}

/** A row that ends a call. */
export interface RecordedReturn {
  readonly callId: string;
  /** The key of the request, if only the result names it. */
  readonly key?: string;
  /** As the performer gives it; null for a result that no other call may take over. */
  readonly result: CallResult | null;
}

export interface RecordedCalls {
  /** Every name of a call in a rule of a branch, besides `*`. */
  namesOf(call: Pick<OpenCall, 'step'>, input: JsonObject): readonly string[];
  /** The key of a call that is about to be made; null if only its performer knows it. */
  keyOf(call: Pick<OpenCall, 'step'>, input: JsonObject, sha256: Sha256): string | null;
  /** The request in a row; null for every other row. */
  request(event: FoldEvent): RecordedRequest | null;
  /** The result in a row; null for every other row. */
  returned(event: FoldEvent): RecordedReturn | null;
  /** The payload of a result as it is written where the pieces of its streamed answer are not. */
  withoutPieces(event: FoldEvent): object;
  /** Whether a row of the node says that a model refused to answer. */
  isRefusal(event: FoldEvent): boolean;
}
