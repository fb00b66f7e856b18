/** JSON Schemas that users write: compiled once, with patterns matched by RE2. */
import type { Json, JsonObject } from '@cairn/protocol';
import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LruMap } from '../../lru-map.ts';
import { canonicalText } from './canonical.ts';
import { compilePattern } from './patterns.ts';
import { isTooMuch, partsOf } from './schema-cost.ts';

/** The ways in which a value breaks the schema; empty when it fits. */
export type SchemaCheck = (value: Json) => readonly string[];

const MAX_SCHEMA_LENGTH = 65_536;
const KEPT = 200;

/**
 * Compiled schemas by their text. A compiled schema depends on nothing but its text, and compiling one costs a
 * thousand times more than using it, so all runs share them.
 */
const compiled = new LruMap<string, SchemaCheck>(KEPT);

/** Throws an Error whose message says what is wrong with the schema. References outside of it are not followed. */
export function compileSchema(schema: JsonObject): SchemaCheck {
  const text = JSON.stringify(schema);
  return compiled.get(text) ?? compiled.set(text, compile(schema, text.length));
}

function compile(schema: JsonObject, length: number): SchemaCheck {
  if (length > MAX_SCHEMA_LENGTH) {
    throw new RangeError(`the schema has ${length} characters; at most ${MAX_SCHEMA_LENGTH} are allowed`);
  }
  const parts = partsOf(schema);
  // One compiler each: it remembers every schema it has seen, and ids of different users may be equal.
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true, code: { regExp: re2 } });
  formats.default(ajv);
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems);
  const validate = ajv.compile(schema);
  return (value) => {
    if (isTooMuch(value, parts)) return ['the value is too large to be checked by this schema'];
    return validate(value) ? [] : (validate.errors ?? []).map(problem);
  };
}

/** The compiler's own compares each item with each other one. */
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

/** Ajv tells compiled patterns apart by their text form, and accepts wrong input when two share one. */
const re2 = Object.assign(
  (source: string, flags: string) => {
    const pattern = compilePattern(source, flags);
    return { test: pattern.test, toString: () => `re2:${flags}:${source}` };
  },
  { code: 're2' },
);
