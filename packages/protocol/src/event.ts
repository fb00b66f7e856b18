/** An event in the three forms it takes: what the engine writes, what the folds read, what an OpenWOP client gets. */
import type { ContextId, EventId, RunId } from './ids.ts';
import type { Json } from './json.ts';

/** Who may see a row: operator rows are left out of every surface for callers without `audit:read`. */
export type Audience = 'client' | 'operator';

/** The event that made this one happen: its sequence in the same run, or the full id of an event elsewhere. */
export type Cause = number | EventId;

/** The part of an event that folds read. `at` is in ms; the payload is parsed. */
export interface FoldEvent<Type extends string = string, Payload = Json> {
  readonly seq: number;
  readonly at: number;
  readonly type: Type;
  readonly nodeId?: string | undefined;
  readonly cause?: Cause | undefined;
  readonly payload: Payload;
}

/** An event with its place in the world. */
export interface RunEvent<Type extends string = string, Payload = Json> extends FoldEvent<Type, Payload> {
  readonly runId: RunId;
  readonly contextId: ContextId;
  /** Position in the context; it increases, it need not be dense. */
  readonly cursor: number;
  readonly audience: Audience;
}

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
