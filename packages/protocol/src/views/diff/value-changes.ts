/** The difference of two JSON values by path, cut to what a person reads. */
import { isJsonObject, type Json, type JsonObject, jsonEquals } from '../../json.ts';
import { jsonSize } from '../../json-size.ts';
import { cleaned, type OwnIds } from './comparable.ts';
import type { Slices } from './slices.ts';
import { type TextPart, textDiff } from './text-diff.ts';

/** A changed value. A side that lacks it has no field. */
export interface ValueChange {
  /** Names and indexes with dots between them; empty for the value itself. */
  readonly path: string;
  readonly a?: Json;
  readonly b?: Json;
  /** For two longer texts: what changed in them. `a` and `b` are left out then. */
  readonly text?: readonly TextPart[];
}

/** What may still be written. Shared by all parts of one diff, so that its size is bounded. */
export interface DiffRoom {
  characters: number;
  /** Values that were cut or left out. */
  cut: number;
}

/** Changes of one entry; the rest is counted. */
const MAX_CHANGES = 20;

/** Characters of one shown value. */
const MAX_VALUE = 2_000;

/** A shorter text is shown whole on both sides. */
const MIN_DIFFED = 60;

/** Depth to which values are compared field by field. */
const MAX_DEPTH = 6;

/** The changes from `a` to `b` in the order of the fields. Undefined means that a side lacks the value. */
export function valueChanges(a: Json | undefined, b: Json | undefined, room: DiffRoom): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  collect({ path: '', a, b, depth: 0 }, changes, room);
  return changes;
}

/** About the bytes of values that are compared between two looks at the turn. */
const SLICE = 65_536;

/** The changes of two objects as `cleaned` shows them. A state of many values would take half a second at once. */
export function* fieldChanges(
  a: JsonObject,
  b: JsonObject,
  { ids, room }: FieldOptions,
): Slices<readonly ValueChange[]> {
  const [one, other] = [yield* cleanedFields(a, ids), yield* cleanedFields(b, ids)];
  const changes: ValueChange[] = [];
  let size = 0;
  for (const [key, left, right] of membersOf(one, other) ?? []) {
    collect({ path: key, a: left, b: right, depth: 1 }, changes, room);
    size += jsonSize(left) + jsonSize(right);
    if (size < SLICE) continue;
    size = 0;
    yield;
  }
  return changes;
}

interface FieldOptions {
  readonly ids: OwnIds;
  readonly room: DiffRoom;
}

function* cleanedFields(value: JsonObject, ids: OwnIds): Slices<JsonObject> {
  const kept: [string, Json][] = [];
  let size = 0;
  for (const [key, item] of Object.entries(value)) {
    kept.push(...Object.entries(cleaned({ [key]: item }, ids) as JsonObject));
    size += jsonSize(item);
    if (size < SLICE) continue;
    size = 0;
    yield;
  }
  return Object.fromEntries(kept);
}

interface Pair {
  readonly path: string;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
  readonly depth: number;
}

function collect({ path, a, b, depth }: Pair, changes: ValueChange[], room: DiffRoom): void {
  if (jsonEquals(a, b)) return;
  const below = depth < MAX_DEPTH ? membersOf(a, b) : null;
  if (below !== null) {
    for (const [key, one, other] of below) {
      collect({ path: path === '' ? key : `${path}.${key}`, a: one, b: other, depth: depth + 1 }, changes, room);
    }
    return;
  }
  if (changes.length >= MAX_CHANGES || room.characters <= 0) {
    room.cut += 1;
    return;
  }
  changes.push(changeOf({ path, a, b, depth }, room));
}

type Member = readonly [key: string, a: Json | undefined, b: Json | undefined];

/** The members of two objects, or of two lists, in order; null for other values. */
function membersOf(a: Json | undefined, b: Json | undefined): readonly Member[] | null {
  if (isJsonObject(a) && isJsonObject(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [
      key,
      Object.hasOwn(a, key) ? a[key] : undefined,
      Object.hasOwn(b, key) ? b[key] : undefined,
    ]);
  }
  if (!Array.isArray(a) || !Array.isArray(b)) return null;
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [String(i), a[i], b[i]]);
}

function changeOf({ path, a, b }: Pair, room: DiffRoom): ValueChange {
  if (typeof a === 'string' && typeof b === 'string' && Math.max(a.length, b.length) >= MIN_DIFFED) {
    const text = shownParts(textDiff(a, b) ?? [], room);
    if (text.length > 0) return { path, text };
  }
  return {
    path,
    ...(a === undefined ? {} : { a: shownValue(a, room) }),
    ...(b === undefined ? {} : { b: shownValue(b, room) }),
  };
}

/** A value for readers. A long one is its beginning as text. */
export function shownValue(value: Json, room: DiffRoom): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const most = Math.min(MAX_VALUE, Math.max(0, room.characters));
  room.characters -= Math.min(text.length, most);
  if (text.length <= most) return value;
  room.cut += 1;
  return `${text.slice(0, most)}… ${text.length - most} more characters`;
}

function shownParts(parts: readonly TextPart[], room: DiffRoom): readonly TextPart[] {
  const shown: TextPart[] = [];
  for (const { op, text } of parts) {
    if (room.characters <= 0) {
      room.cut += 1;
      break;
    }
    shown.push({ op, text: String(shownValue(text, room)) });
  }
  return shown;
}
