/** The channels of a run. Each write names its reducer. */
import { isJsonObject, type Json } from '../json.ts';
import { heldSize } from '../json-size.ts';
import type { ChannelDeclaration } from '../runs/workflow-definition.ts';
import { own, put } from './dictionary.ts';

/** A channel's reduced value and what is needed to reduce the next write. */
export interface ChannelView {
  value: Json;
  readonly maxSize: number | null;
  readonly ttlMs: number | null;
  /** Ids of messages ever written: a message that was dropped for size still counts as delivered. */
  ids: Record<string, true> | null;
  /** Whether `value` belongs to the view. One that came with an event is copied before it is changed. */
  owned: boolean;
  /** The size of `value`. Kept with each write, because counting it anew would cost more the longer a list is. */
  bytes: number;
}

export type Channels = Record<string, ChannelView>;

export interface ChannelWrite {
  readonly channel: string;
  readonly value: Json;
  readonly reducer: string;
}

/** The declared channels with their defaults; `at` is the age of default entries where entries age. */
export function declareChannels(
  declarations: Readonly<Record<string, ChannelDeclaration>> | undefined,
  at: number,
): Channels {
  const channels: Channels = {};
  if (declarations === undefined) return channels;
  for (const [name, declared] of Object.entries(declarations)) {
    const initial = declared.default ?? null;
    const isTimed = declared.ttlMs !== undefined && Array.isArray(initial);
    const value = isTimed ? initial.map((entry) => ({ value: entry, _ts: at })) : initial;
    put<ChannelView>(channels, name, {
      value,
      maxSize: declared.maxSize ?? null,
      ttlMs: declared.ttlMs ?? null,
      ids: null,
      owned: isTimed,
      bytes: heldSize(value),
    });
  }
  return channels;
}

/** Apply one write, made at the instant `at`. An undeclared channel begins with it. */
export function writeChannel(channels: Channels, write: ChannelWrite, at: number): void {
  let channel = own(channels, write.channel);
  if (channel === undefined) {
    channel = { value: null, maxSize: null, ttlMs: null, ids: null, owned: false, bytes: 0 };
    put(channels, write.channel, channel);
  }
  switch (write.reducer) {
    case 'append':
    case 'feedback':
      push(channel, write.value, at);
      break;
    case 'votes':
      vote(channel, write.value, at);
      break;
    case 'message':
      deliver(channel, write.value);
      break;
    case 'counter':
      replace(channel, finite(numberOr(channel.value, 0) + numberOr(write.value, 0)));
      break;
    case 'merge':
      merge(channel, write.value);
      break;
    default:
      replace(channel, write.value);
  }
}

function replace(channel: ChannelView, value: Json): void {
  channel.value = value;
  channel.owned = false;
  channel.bytes = heldSize(value);
}

/** The values alone, copied where later writes would change them in place. */
export function channelValues(channels: Channels): Record<string, Json> {
  const values: Record<string, Json> = {};
  for (const [name, { value }] of Object.entries(channels)) {
    put(values, name, Array.isArray(value) ? value.slice() : isJsonObject(value) ? { ...value } : value);
  }
  return values;
}

/** The channel's list, owned by the view; a value of another shape is replaced by an empty one. */
function listOf(channel: ChannelView): Json[] {
  const { value } = channel;
  const list: Json[] = !Array.isArray(value) ? [] : channel.owned ? value : value.slice();
  if (!Array.isArray(value)) channel.bytes = heldSize(list);
  channel.value = list;
  channel.owned = true;
  return list;
}

/** Add to the end, then drop what is too old or too much. Age is measured by event time, so a replay drops the same. */
function push(channel: ChannelView, value: Json, at: number): void {
  const list = listOf(channel);
  const ttlMs = channel.ttlMs;
  add(channel, list, ttlMs === null ? value : { value, _ts: at });
  let drop = channel.maxSize === null ? 0 : Math.max(0, list.length - channel.maxSize);
  if (ttlMs !== null) while (drop < list.length - 1 && at - writtenAt(list[drop]) > ttlMs) drop += 1;
  remove(channel, list, 0, drop);
}

function add(channel: ChannelView, list: Json[], entry: Json): void {
  list.push(entry);
  channel.bytes += 1 + heldSize(entry);
}

function remove(channel: ChannelView, list: Json[], from: number, count: number): void {
  if (count === 0) return;
  for (const entry of list.splice(from, count)) channel.bytes -= 1 + heldSize(entry);
}

/** One entry per voter, the latest, at the end. Voters are people and agents: a scan is cheaper than an index. */
function vote(channel: ChannelView, value: Json, at: number): void {
  const voter = fieldOf(value, 'voter');
  if (voter !== undefined) {
    const list = listOf(channel);
    const isTimed = channel.ttlMs !== null;
    const earlier = list.findIndex((entry) => fieldOf(isTimed ? fieldOf(entry, 'value') : entry, 'voter') === voter);
    if (earlier >= 0) remove(channel, list, earlier, 1);
  }
  push(channel, value, at);
}

/** Append unless a message of the same id was written before. Time to live does not apply to messages. */
function deliver(channel: ChannelView, value: Json): void {
  const list = listOf(channel);
  const id = fieldOf(value, 'messageId');
  if (typeof id === 'string') {
    channel.ids ??= idsOf(list);
    if (own(channel.ids, id) !== undefined) return;
    put(channel.ids, id, true);
  }
  add(channel, list, value);
  if (channel.maxSize !== null && list.length > channel.maxSize) remove(channel, list, 0, 1);
}

function idsOf(messages: readonly Json[]): Record<string, true> {
  const ids: Record<string, true> = {};
  for (const message of messages) {
    const id = fieldOf(message, 'messageId');
    if (typeof id === 'string') put(ids, id, true);
  }
  return ids;
}

/** Shallow: each key of the change replaces that key. Anything but an object replaces the whole. */
function merge(channel: ChannelView, change: Json): void {
  if (!isJsonObject(change) || !isJsonObject(channel.value)) {
    replace(channel, change);
    return;
  }
  // The view's own value is changed in place.
  const value: Record<string, Json> = channel.owned ? channel.value : { ...channel.value };
  channel.value = value;
  channel.owned = true;
  for (const [key, next] of Object.entries(change)) {
    const before = own(value, key);
    channel.bytes += heldSize({ [key]: next }) - (before === undefined ? heldSize({}) : heldSize({ [key]: before }));
    put(value, key, next);
  }
}

const fieldOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? own(value, key) : undefined;
/** JSON has no infinity: a state that is read back would have null instead. */
const finite = (sum: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
const numberOr = (value: Json, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
/** An entry without a time (left by another reducer) counts as too old. */
function writtenAt(entry: Json | undefined): number {
  const ts = fieldOf(entry, '_ts');
  return typeof ts === 'number' ? ts : Number.NEGATIVE_INFINITY;
}
