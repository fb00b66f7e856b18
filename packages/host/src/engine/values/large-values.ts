/**
 * Values that do not fit in an event. An artifact holds such a value, and a reference stands for it in rows, in the state
 * of the run and in expressions. Only an effect gets the value itself.
 */
import { isJsonObject, type Json, type JsonObject, jsonSize, LARGE_VALUE } from '@cairn/protocol';

/** Largest value that is kept, in bytes of JSON: reading and writing it takes less than a turn of the event loop. */
export const MAX_VALUE_BYTES = 2_000_000;

/** A member that is smaller stays where it is. */
const MIN_VALUE_BYTES = 16_384;

/** Characters of a value that its reference shows. */
const PREVIEW = 500;

export interface ValueRef {
  readonly artifactId: string;
  readonly version: number;
  readonly bytes: number;
  /** Of the JSON text. To forge a reference, one would have to know the content. */
  readonly sha256: string;
}

/** Records the JSON text of a value. `place` is its number among the values of one result. */
export type KeepValue = (text: string, place: number) => Promise<ValueRef>;

/**
 * Replaces the largest members of an object, or else the whole value, until the rest fits. The same value always leads to
 * the same references.
 */
export async function withoutLarge(value: Json, fits: number, keep: KeepValue): Promise<Json> {
  if (!isJsonObject(value)) return kept(value, 0, keep);
  let size = jsonSize(value);
  const members = Object.keys(value)
    .map((name) => ({ name, bytes: jsonSize(value[name]) }))
    .filter(({ bytes }) => bytes >= MIN_VALUE_BYTES)
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  const rest: Record<string, Json> = { ...value };
  for (const [place, { name, bytes }] of members.entries()) {
    if (size <= fits) break;
    const reference = await kept(value[name] ?? null, place, keep);
    Object.defineProperty(rest, name, { value: reference, enumerable: true, writable: true, configurable: true });
    size += jsonSize(reference) - bytes;
  }
  return size <= fits ? rest : kept(value, members.length, keep);
}

async function kept(value: Json, place: number, keep: KeepValue): Promise<JsonObject> {
  const text = JSON.stringify(value);
  return referenceTo(text, await keep(text, place));
}

/** What stands for a value that an artifact holds as this JSON text. */
export function referenceTo(text: string, { artifactId, version, bytes, sha256 }: ValueRef): JsonObject {
  const note = `The value has ${bytes} bytes, too many for an event. The file ${artifactId} holds it.`;
  return {
    [LARGE_VALUE]: { artifactId, version, bytes, sha256 },
    note,
    preview: text.slice(0, PREVIEW).toWellFormed(),
  };
}

/** What a value refers to, if it is a reference. */
function refOf(value: Json): ValueRef | null {
  const named = isJsonObject(value) && Object.hasOwn(value, LARGE_VALUE) ? value[LARGE_VALUE] : undefined;
  if (!isJsonObject(named)) return null;
  const { artifactId, version, bytes, sha256 } = named;
  if (typeof artifactId !== 'string' || typeof version !== 'number' || typeof bytes !== 'number') return null;
  return typeof sha256 === 'string' ? { artifactId, version, bytes, sha256 } : null;
}

/** The references in a value, at any depth. */
export function refsIn(value: Json): readonly ValueRef[] {
  const found: ValueRef[] = [];
  const visit = (one: Json): void => {
    if (typeof one !== 'object' || one === null) return;
    const ref = refOf(one);
    if (ref !== null) found.push(ref);
    else for (const member of Object.values(one)) visit(member);
  };
  visit(value);
  return found;
}

/** The value with what its references stand for. */
export function withValues(value: Json, lookUp: (ref: ValueRef) => Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  const ref = refOf(value);
  if (ref !== null) return lookUp(ref);
  if (Array.isArray(value)) return value.map((member) => withValues(member, lookUp));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withValues(member, lookUp)]));
}
