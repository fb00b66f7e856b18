/** Rows on their way into the log and out of it: how one is drafted, and how a stored one is read. */

import type { Json, JsonObject } from '../json.ts';
import { isOperatorType } from './audiences.ts';
import type { EventType, PayloadOf } from './catalogue.ts';
import type { Audience, Cause, FoldEvent, KnownEvent, RawEvent } from './event.ts';

/** A row of one type as a writer asks for it; whoever appends it stamps its place and its time. */
export interface DraftOf<Type extends EventType> {
  readonly type: Type;
  readonly nodeId: string | undefined;
  /** seq of a row in the same run. */
  readonly cause: number | undefined;
  readonly audience: Audience;
  readonly payload: PayloadOf<Type>;
}

export type Draft = { [Type in EventType]: DraftOf<Type> }[EventType];

/**
 * Drafts a row; its audience is its type's. The payload is kept by reference: its keys are written in the order they have.
 * Every draft has the same shape and none is checked here: the compiler does that, and tests parse every row they write.
 */
export const row = <Type extends EventType>(
  type: Type,
  payload: PayloadOf<Type>,
  where?: { readonly nodeId?: string | undefined; readonly cause?: number | undefined },
): DraftOf<Type> => ({
  type,
  nodeId: where?.nodeId,
  cause: where?.cause,
  audience: isOperatorType(type) ? 'operator' : 'client',
  payload,
});

/** The event that a draft becomes in its place. */
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
}

/** The event that a stored row is. */
export const foldEventOf = ({ seq, at, type, nodeId, cause, payload }: StoredRow): FoldEvent =>
  typedEvent({ seq, at, type, nodeId: nodeId ?? undefined, cause: cause ?? undefined, payload: JSON.parse(payload) });

/** An event as it was read, from a row or from the wire. */
type ReadEvent = Omit<RawEvent, 'payload'> & { readonly payload: Json };

const nothing: JsonObject = {};

/**
 * Takes a payload for what its type says; one that is no object reads as an empty one. It is not parsed by its schema: rows of
 * this host were held to their types by the compiler (in tests and in the simulation they are parsed, see `checkRow`), and
 * rows of another host are parsed when they are imported.
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
