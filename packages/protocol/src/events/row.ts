/** Drafts rows for the log, and reads stored rows as events. */

import type { Json, JsonObject } from '../json.ts';
import { isOperatorType } from './audiences.ts';
import type { EventType, PayloadOf } from './catalogue.ts';
import type { Audience, Cause, FoldEvent, KnownEvent, RawEvent } from './event.ts';

/** A row before it is appended; the writer of the run adds its seq and its time. */
export interface DraftOf<Type extends EventType> {
  readonly type: Type;
  readonly nodeId: string | undefined;
  /** seq of a row in the same run, or the id of an event of another one. */
  readonly cause: Cause | undefined;
  readonly audience: Audience;
  readonly payload: PayloadOf<Type>;
}

export type Draft = { [Type in EventType]: DraftOf<Type> }[EventType];

/**
 * Drafts a row with the audience of its type. The payload is kept by reference, so its key order is the recorded one.
 * The compiler checks the payload; nothing is parsed at run time. All drafts have the same hidden class.
 */
export const row = <Type extends EventType>(
  type: Type,
  payload: PayloadOf<Type>,
  where?: { readonly nodeId?: string | undefined; readonly cause?: Cause | undefined },
): DraftOf<Type> => ({
  type,
  nodeId: where?.nodeId,
  cause: where?.cause,
  audience: isOperatorType(type) ? 'operator' : 'client',
  payload,
});

/** The row of what a model turn used, from the result of a call that counted it. Who asked for the turn need not know its form. */
export const usageRow = (usage: JsonObject, where: { readonly cause: Cause }): Draft =>
  row('provider.usage', usage as PayloadOf<'provider.usage'>, where);

/** The event of a draft at its position. */
export const eventOf = ({ type, nodeId, cause, payload }: Draft, seq: number, at: number): KnownEvent =>
  ({ seq, at, type, nodeId, cause, payload }) as KnownEvent;

/** A row as the log holds it. */
export interface StoredRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Cause | null;
  /** JSON text. */
  readonly payload: string;
  /** The same as a value, from a store that shares large parts of it between rows. Nobody may change it. */
  readonly value?: Json;
}

/** Reads a stored row as an event. */
export const foldEventOf = ({ seq, at, type, nodeId, cause, payload, value }: StoredRow): FoldEvent =>
  typedEvent({
    seq,
    at,
    type,
    nodeId: nodeId ?? undefined,
    cause: cause ?? undefined,
    payload: value === undefined ? JSON.parse(payload) : value,
  });

/** An event from a row or from the wire, not typed yet. */
type ReadEvent = Omit<RawEvent, 'payload'> & { readonly payload: Json };

const nothing: JsonObject = {};

/**
 * Types an event by its `type` without parsing its payload. A payload that is not an object reads as an empty one. Rows of this
 * host were type-checked at compile time, and tests and the simulation parse them (`checkRow`). Imported rows are parsed at import.
 */
export const typedEvent = ({ seq, at, type, nodeId, cause, payload }: ReadEvent): FoldEvent =>
  ({
    seq,
    at,
    type,
    nodeId,
    cause,
    payload: typeof payload === 'object' && payload !== null ? payload : nothing,
  }) as FoldEvent;
