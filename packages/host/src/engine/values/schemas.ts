/** User-defined JSON Schemas: compiled once, with patterns matched by RE2. */
import type { Json, JsonObject } from '@cairn/protocol';
import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LruMap } from '../../lru-map.ts';
import { canonicalText } from './canonical.ts';
import { compilePattern } from './patterns.ts';
import { isTooMuch, partsOf } from './schema-cost.ts';

/** Returns the schema violations of a value; empty when the value is valid. */
export type SchemaCheck = (value: Json) => readonly string[];

const MAX_SCHEMA_LENGTH = 65_536;
const KEPT = 200;

/**
 * Compiled schemas by their text. A compiled schema depends only on its text, and compiling costs a thousand times more
 * than a check. All runs therefore share this cache.
 */
const compiled = new LruMap<string, SchemaCheck>(KEPT);

/** Throws an Error whose message explains the problem. External references are not followed. */
export function compileSchema(schema: JsonObject): SchemaCheck {
  const text = JSON.stringify(schema);
  return compiled.get(text) ?? compiled.set(text, compile(schema, text.length));
}

function compile(schema: JsonObject, length: number): SchemaCheck {
  if (length > MAX_SCHEMA_LENGTH) {
    throw new RangeError(`the schema has ${length} characters; at most ${MAX_SCHEMA_LENGTH} are allowed`);
  }
  const parts = partsOf(schema);
  // One compiler per schema: a compiler keeps every schema it compiled, and different users may use the same $id.
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true, code: { regExp: re2 } });
  formats.default(ajv);
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems);
  const validate = ajv.compile(schema);
  return (value) => {
    if (isTooMuch(value, parts)) return ['the value is too large to be checked by this schema'];
    return validate(value) ? [] : (validate.errors ?? []).map(problem);
  };
}

/** Replaces Ajv's `uniqueItems`, which compares every pair of items. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isAsked: boolean, items: readonly Json[]) =>
    !isAsked || new Set(items.map(canonicalText)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
};

const problem = (error: ErrorObject): string =>
  `${error.instancePath === '' ? 'the value' : error.instancePath} ${error.message ?? 'does not fit'}`;

/** Ajv identifies compiled patterns by their string form, and accepts invalid input when two patterns share it. */
const re2 = Object.assign(
  (source: string, flags: string) => {
    const pattern = compilePattern(source, flags);
    return { test: pattern.test, toString: () => `re2:${flags}:${source}` };
  },
  { code: 're2' },
);
