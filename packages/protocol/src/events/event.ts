/** The forms of an event: as folds read it, as the log stores it, as an OpenWOP client receives it. */

import type { ContextId, EventId, RunId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EventType, PayloadOf } from './catalogue.ts';

/** Who may see a row. Callers without `audit:read` never see operator rows. */
export type Audience = 'client' | 'operator';

/** The event that caused this one: its sequence in the same run, or its full id in another run. */
export type Cause = number | EventId;

/** The position of an event in its run. `at` is in ms. */
interface Place {
  readonly seq: number;
  readonly at: number;
  readonly nodeId?: string | undefined;
  readonly cause?: Cause | undefined;
}

/** An event of one known type. */
export interface EventOf<Type extends EventType> extends Place {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

/** An event of a known type. `switch (event.type)` narrows its payload. */
export type KnownEvent = { [Type in EventType]: EventOf<Type> }[EventType];

declare const unknownType: unique symbol;

/**
 * The type of an unknown event: any text at run time. The compiler sees one branded literal, because narrowing would keep an
 * event whose type is a plain or branded string in every `case`.
 */
export type UnknownType = '(unknown)' & { readonly [unknownType]: true };

/** An event of a vendor's type, or of a later version's. */
export interface UnknownEvent extends Place {
  readonly type: UnknownType;
  readonly payload: JsonObject;
}

/** An event as untyped JSON. Every event is assignable to it. */
export interface RawEvent extends Place {
  readonly type: string;
  readonly payload: JsonObject;
}

/** What folds read. */
export type FoldEvent = KnownEvent | UnknownEvent;

/** An event with its run and its context. */
export type RunEvent = FoldEvent & {
  readonly runId: RunId;
  readonly contextId: ContextId;
  /** Position in the context; it increases, it need not be dense. */
  readonly cursor: number;
  readonly audience: Audience;
};

/** The fields of every RunEventDoc. */
interface DocFields {
  readonly eventId: string;
  readonly runId: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly nodeId?: string;
  readonly causationId?: string;
  readonly schemaVersion?: number;
  readonly engineVersion?: string;
}

/** RunEventDoc: the event as an OpenWOP client receives it. */
export interface RunEventDoc extends DocFields {
  readonly type: string;
  readonly payload: Json;
}

/** A RunEventDoc of one known type. */
export interface EventDocOf<Type extends EventType> extends DocFields {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

/** A RunEventDoc of a vendor's type, or of a later version's. */
export interface UnknownEventDoc extends DocFields {
  readonly type: UnknownType;
  readonly payload: Json;
}

/** A RunEventDoc with the type of its payload. `switch (event.type)` narrows it; every one is a RunEventDoc. */
export type EventDoc = { [Type in EventType]: EventDocOf<Type> }[EventType] | UnknownEventDoc;
