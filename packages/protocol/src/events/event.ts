/** An event in the three forms it takes: what folds read, what the log holds, what an OpenWOP client gets. */

import type { ContextId, EventId, RunId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EventType, PayloadOf } from './catalogue.ts';

/** Who may see a row: operator rows are left out of every surface for callers without `audit:read`. */
export type Audience = 'client' | 'operator';

/** The event that made this one happen: its sequence in the same run, or the full id of an event elsewhere. */
export type Cause = number | EventId;

/** Where an event stands in its run. `at` is in ms. */
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

/** An event of a type this version knows: `switch (event.type)` gives its payload. */
export type KnownEvent = { [Type in EventType]: EventOf<Type> }[EventType];

declare const unknownType: unique symbol;

/**
 * The type of an event that this version does not know: any text at run time. For the compiler it is one literal with a brand,
 * because a plain or branded string would leave the event in every `case` of a known type.
 */
export type UnknownType = '(unknown)' & { readonly [unknownType]: true };

/** An event of a vendor's type, or of a later version's. */
export interface UnknownEvent extends Place {
  readonly type: UnknownType;
  readonly payload: JsonObject;
}

/** An event of which the compiler knows no more than that it is JSON; every event is one. */
export interface RawEvent extends Place {
  readonly type: string;
  readonly payload: JsonObject;
}

/** What folds read. The payload is parsed JSON. */
export type FoldEvent = KnownEvent | UnknownEvent;

/** An event with its place in the world. */
export type RunEvent = FoldEvent & {
  readonly runId: RunId;
  readonly contextId: ContextId;
  /** Position in the context; it increases, it need not be dense. */
  readonly cursor: number;
  readonly audience: Audience;
};

/** RunEventDoc: the event as an OpenWOP client gets it. */
export interface RunEventDoc {
  readonly eventId: string;
  readonly runId: string;
  readonly type: string;
  readonly payload: Json;
  readonly timestamp: string;
  readonly sequence: number;
  readonly nodeId?: string;
  readonly causationId?: string;
  readonly schemaVersion?: number;
  readonly engineVersion?: string;
}
