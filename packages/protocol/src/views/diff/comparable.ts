/** The part of an event that two runs are compared by: what happened, without ids, times and measurements. */
import type { RawEvent } from '../../events/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { changedList } from './changed-copy.ts';

/** Names of payload fields that differ between any two runs: ids, times, measurements, and what is derived from them. */
const uncompared: ReadonlySet<string> = new Set([
  'argsHash',
  'artifactId',
  'callId',
  'childRunId',
  'contextId',
  'contentId',
  'conversationId',
  'decidedAt',
  'durationMs',
  'expiresAt',
  'fireAt',
  'idToken',
  'inputId',
  'interruptId',
  'invocationId',
  'memoryId',
  'memoryScope',
  'outputId',
  'parentRunId',
  'recoveries',
  'requestedAt',
  'resolvedAt',
  'reusedFrom',
  'runId',
  'sessionId',
  'thoughtId',
  'timerId',
  'traceparent',
  'tracestate',
  'writtenAt',
]);

/** Fields of a recorded model turn that say how it came, not what it was. */
const uncomparedOfTurn: ReadonlySet<string> = new Set(['cacheKey', 'chunks', 'tail', 'specification']);

/** Types that keep house for the host. They say nothing about what a run decided. */
const housekeeping: ReadonlySet<string> = new Set(['cairn.run.forked', 'cairn.task.status', 'cairn.values.sealed']);

/** Types that carry a text in pieces. Later events hold the whole, and the pieces depend on the network. */
const streaming: ReadonlySet<string> = new Set([
  'output.chunk',
  'ai.message.chunk',
  'agent.reasoning.delta',
  'cairn.artifact.chunk',
  'cairn.tool.progress',
]);

/** Whether a type counts in the search for the first divergence. */
export const isCompared = (type: string): boolean => !housekeeping.has(type) && !streaming.has(type);

/** Ids of one side, each with the name that stands for it on both. */
export type OwnIds = readonly (readonly [id: string, name: string])[];

/** The comparable payload of an event. */
export function comparable({ type, payload }: Pick<RawEvent, 'type' | 'payload'>, ids: OwnIds): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(payload)) {
    if (uncompared.has(key) || (key === 'channel' && type === 'output.chunk')) continue;
    kept[key] = key === 'turn' && isJsonObject(value) ? turnOf(value, ids) : cleaned(value, ids);
  }
  return kept;
}

function turnOf(turn: JsonObject, ids: OwnIds): JsonObject {
  const kept = Object.fromEntries(Object.entries(turn).filter(([key]) => !uncomparedOfTurn.has(key)));
  const { toolCalls } = turn;
  if (Array.isArray(toolCalls)) kept.toolCalls = toolCalls.map(withoutId);
  return cleanedObject(kept, ids);
}

const withoutId = (call: Json): Json => {
  if (!isJsonObject(call)) return call;
  const { id: _, ...rest } = call;
  return rest;
};

/** A reference to a sensitive value carries a token of its run. */
const REFERENCE = /\[REDACTED:([A-Za-z0-9_.-]{1,40})#[A-Za-z0-9_-]{12}\]/g;

/**
 * A value in which the side's own ids have the names that stand for them: the value itself where it has none, because a
 * copy of many small values would burden the collector more than all else that a diff does.
 */
export function cleaned(value: Json, ids: OwnIds): Json {
  if (typeof value === 'string') return cleanedText(value, ids);
  if (Array.isArray(value)) return changedList(value, (item) => cleaned(item, ids));
  return isJsonObject(value) ? cleanedObject(value, ids) : value;
}

function cleanedObject(value: JsonObject, ids: OwnIds): JsonObject {
  let kept: [string, Json][] | null = null;
  let place = 0;
  for (const key in value) {
    const item = value[key] ?? null;
    // The host writes the time of an answer into the answer, and so into what follows from it.
    const isTime = key === 'decidedAt' && typeof item === 'string' && ISO_TIME.test(item);
    const name = cleanedText(key, ids);
    const clean = cleaned(item, ids);
    if (kept === null && (isTime || name !== key || clean !== item)) kept = Object.entries(value).slice(0, place);
    if (!isTime) kept?.push([name, clean]);
    place += 1;
  }
  return kept === null ? value : Object.fromEntries(kept);
}

/** An id inside a payload carries a token of its run (`payloadId`). */
const PAYLOAD_ID = /\b(art|call|content|conv|int|inv|msg|thought|timer)_[0-9a-f]{12}_/;
const PAYLOAD_IDS = new RegExp(PAYLOAD_ID, 'g');

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** A text in which the side's own ids have the names that stand for them. */
export function cleanedText(text: string, ids: OwnIds): string {
  let shown = text;
  for (const [id, name] of ids) if (shown.includes(id)) shown = shown.replaceAll(id, name);
  if (PAYLOAD_ID.test(shown)) shown = shown.replaceAll(PAYLOAD_IDS, '$1_{token}_');
  return shown.includes('[REDACTED:') ? shown.replaceAll(REFERENCE, '[REDACTED:$1]') : shown;
}
