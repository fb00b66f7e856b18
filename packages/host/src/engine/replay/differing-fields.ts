/** Names what differs between a recorded event and the one that the present code decides. */
import { isJsonObject, type Json, jsonEquals } from '@cairn/protocol';
import type { Draft } from '../core/state.ts';
import { payloadOf, type RecordedRow } from './recorded-row.ts';

/** Most fields that are named. */
const MAX_NAMED = 8;

/** Paths of fields, such as `cause` or `payload.inputs.text`; at most eight. */
export function differingFields(recorded: RecordedRow, present: Draft): readonly string[] {
  const found: string[] = [];
  if (recorded.type !== present.type) found.push('type');
  if (recorded.nodeId !== (present.nodeId ?? null)) found.push('nodeId');
  if (recorded.cause !== (present.cause ?? null)) found.push('cause');
  // Contents of different events have nothing in common to compare.
  if (recorded.type === present.type) {
    // What JSON leaves out of a draft must not count.
    const now = payloadOf({ payload: JSON.stringify(present.payload) });
    addPaths(found, 'payload', payloadOf(recorded), now);
  }
  return found.slice(0, MAX_NAMED);
}

function addPaths(found: string[], path: string, before: Json | undefined, now: Json | undefined): void {
  if (found.length >= MAX_NAMED || (before !== undefined && now !== undefined && jsonEquals(before, now))) return;
  if (Array.isArray(before) && Array.isArray(now)) {
    for (let i = 0; i < Math.max(before.length, now.length); i += 1)
      addPaths(found, `${path}[${i}]`, before[i], now[i]);
  } else if (isJsonObject(before) && isJsonObject(now)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)]))
      addPaths(found, `${path}.${name}`, ownOf(before, name), ownOf(now, name));
  } else if (before !== now) found.push(path);
}

const ownOf = (value: { readonly [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;
