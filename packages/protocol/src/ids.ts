/** Ids as branded strings, so that a run id cannot be passed as a context id. */

declare const idOf: unique symbol;
type Id<Name extends string> = string & { readonly [idOf]: Name };

export type RunId = Id<'run'>;
export type ContextId = Id<'context'>;
export type EventId = Id<'event'>;

/** Longest id on the wire. */
export const MAX_ID_LENGTH = 128;

const wellFormed = /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/;

/** Parses a run id from a path or a row; null if no run can have it. */
export const parseRunId = (text: string): RunId | null => (isRunId(text) ? text : null);

const isRunId = (text: string): text is RunId => text.length <= 96 && wellFormed.test(text);

const branded = <Name extends string>(text: string): Id<Name> => text as Id<Name>;

export const runId = (unique: string): RunId => branded(`run_${unique}`);
export const contextId = (unique: string): ContextId => branded(`ctx_${unique}`);

/**
 * An id inside a payload, such as that of a call. It is unique in the context of its run, and derived: a fork keeps the
 * token of its origin, so that replayed payloads are equal. Runs that recorded no token use the local part alone.
 */
export const payloadId = (token: string | null, kind: PayloadIdKind, local: string): string =>
  token === null ? local : `${kind}_${token}_${local}`;

export type PayloadIdKind = 'art' | 'call' | 'content' | 'conv' | 'int' | 'inv' | 'msg' | 'thought' | 'timer';

/** The id of an event: its run and its position. It is computed, never stored, so it resolves in every fork. */
export const eventId = (run: RunId, seq: number): EventId => branded(`${run}:${seq}`);

/** The run and the position that the id of an event names; null if no Cairn host wrote it. The wire has causes as ids only. */
export function eventPlace(id: string): { readonly runId: RunId; readonly seq: number } | null {
  const at = id.lastIndexOf(':');
  const run = parseRunId(id.slice(0, Math.max(at, 0)));
  const digits = id.slice(at + 1);
  return run !== null && /^\d{1,15}$/.test(digits) ? { runId: run, seq: Number(digits) } : null;
}
