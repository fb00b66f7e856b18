/** Objects with a closed list of keys: a typo is reported with the nearest right name. */
import { isJsonObject, type Json, type JsonObject, objectOrEmpty } from '@cairn/protocol';
import { z } from 'zod';
import { NearNames, nearest } from '../../nearest.ts';

/** What the searches for typos in one object may cost together, in a few milliseconds. */
const ALL_SEARCHES = 500_000;

/**
 * An object that may have other keys, which the protocol leaves open. A key that is nearly one of the known ones is
 * refused: a typo must not turn a setting off.
 */
export const openButForTypos = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject(shape).superRefine((value, context) => {
    const known = Object.keys(shape);
    const near = new NearNames(ALL_SEARCHES);
    const keys = Object.keys(value).filter((key) => !known.includes(key) && near.nearest(key, known) !== null);
    if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys });
  });

/** Why a name is refused, with the nearest right one. */
export function unknownName(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not known; there are none here';
  // Of a shape with several forms, `known` has the keys of all.
  if (known.includes(name)) return 'does not go with the other settings here';
  const near = nearest(name, known);
  return `is not known; ${near === null ? 'there' : `did you mean ${near}? There`} are ${known.join(', ')}`;
}

/** The value without unknown keys, and without the members in `ignored` that have another type. */
export function withoutUnknown<Value extends Json>(
  shape: z.ZodType,
  value: Value,
  ignored: readonly PropertyKey[] = [],
): Value {
  const issues = shape.safeParse(value).error?.issues ?? [];
  const places = issues.flatMap((issue): (readonly PropertyKey[])[] => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...issue.path, key]);
    const [member] = issue.path;
    return member !== undefined && issue.code !== 'custom' && ignored.includes(member) ? [[member]] : [];
  });
  if (places.length === 0) return value;
  const copy = structuredClone(value);
  for (const place of places) removeAt(copy, place);
  return copy;
}

function removeAt(value: Json, path: readonly PropertyKey[]): void {
  let place: unknown = value;
  for (const key of path.slice(0, -1)) place = isObject(place) ? Reflect.get(place, key) : undefined;
  const last = path.at(-1);
  if (isObject(place) && last !== undefined) Reflect.deleteProperty(place, last);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The JSON Schema (2020-12) of values before they are parsed. */
export function jsonSchemaOf(shape: z.ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

/** The keys that the schema allows for the object at this path; empty if it lists none. */
export function knownKeys(schema: JsonObject, path: readonly PropertyKey[]): readonly string[] {
  let places: readonly Json[] = variantsOf(schema);
  for (const key of path) places = places.flatMap((place) => variantsOf(memberAt(place, key)));
  const names = places.flatMap((place) => Object.keys(objectOrEmpty(memberOf(place, 'properties'))));
  return [...new Set(names)];
}

const memberAt = (schema: Json, key: PropertyKey): Json | undefined =>
  typeof key === 'number'
    ? memberOf(schema, 'items')
    : (memberOf(memberOf(schema, 'properties'), String(key)) ?? memberOf(schema, 'additionalProperties'));

/** The alternatives of a schema. */
function variantsOf(schema: Json | undefined): readonly Json[] {
  if (schema === undefined) return [];
  const variants = ['oneOf', 'anyOf', 'allOf'].flatMap((name) => {
    const list = memberOf(schema, name);
    return Array.isArray(list) ? list.flatMap(variantsOf) : [];
  });
  return variants.length === 0 ? [schema] : variants;
}

const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
