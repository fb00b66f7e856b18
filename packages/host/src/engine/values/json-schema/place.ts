/** A place in a schema that is being compiled, and how its keywords read what users wrote there. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { Pattern } from '../patterns.ts';
import type { Check } from './checking.ts';
import type { FormatCheck } from './formats.ts';

export interface Place {
  /** The schema that holds the keyword. Some keywords depend on their neighbours. */
  readonly schema: JsonObject;
  /** The path from the root of the schema, for errors. */
  readonly pointer: string;
  compile(schema: Json, pointer: string): Check;
  pattern(source: string): Pattern;
  /** The check of a format; undefined when the format only describes. */
  format(name: string): FormatCheck | undefined;
  /** The schema that a `$ref` names. */
  resolve(reference: string): { readonly schema: Json; readonly pointer: string };
}

/** Compiles a keyword; undefined when it checks nothing. Throws an Error that says what is wrong with it. */
export type Keyword = (given: Json, place: Place) => Check | undefined;

export const wrong = (pointer: string, problem: string): Error =>
  new Error(`the schema is invalid: ${pointer || 'it'} ${problem}`);

export function numberOf(given: Json, { pointer }: Place): number {
  if (typeof given !== 'number') throw wrong(pointer, 'must be a number');
  return given;
}

/** A length or a number of items. */
export function countOf(given: Json, { pointer }: Place): number {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 0) {
    throw wrong(pointer, 'must be a whole number of at least 0');
  }
  return given;
}

export function textOf(given: Json | undefined, { pointer }: Place): string {
  if (typeof given !== 'string') throw wrong(pointer, 'must be a string');
  return given;
}

export function namesOf(given: Json, place: Place): readonly string[] {
  return listOf(given, place).map((name, index) => textOf(name, { ...place, pointer: `${place.pointer}/${index}` }));
}

export function listOf(given: Json, { pointer }: Place): readonly Json[] {
  if (!Array.isArray(given)) throw wrong(pointer, 'must be an array');
  return given;
}

export function membersOf(given: Json, { pointer }: Place): readonly (readonly [string, Json])[] {
  if (!isJsonObject(given)) throw wrong(pointer, 'must be an object');
  return Object.entries(given);
}

/** Schemas in a list, such as those of `anyOf`. */
export function schemasOf(given: Json, place: Place): readonly Check[] {
  const schemas = listOf(given, place);
  if (schemas.length === 0) throw wrong(place.pointer, 'must NOT have fewer than 1 items');
  return schemas.map((schema, index) => place.compile(schema, `${place.pointer}/${index}`));
}

export const memberPointer = (place: Place, name: string): string => `${place.pointer}/${name}`;

/** Schemas by name, such as those of `properties`. */
export const namedSchemasOf = (given: Json, place: Place): readonly (readonly [string, Check])[] =>
  membersOf(given, place).map(([name, schema]) => [name, place.compile(schema, memberPointer(place, name))]);
