/** User-defined JSON Schemas: interpreted, with patterns matched by RE2, and with a limit on the cost of each check. */
import type { Json, JsonObject } from '@cairn/protocol';
import { CostExceeded } from './cost-budget.ts';
import { firstLineOf } from './error-text.ts';
import { errorTexts, startChecking } from './json-schema/checking.ts';
import { type Compiled, compileRoot } from './json-schema/compile.ts';
import { unknownFormat } from './json-schema/formats.ts';
import { partsOf } from './schema-cost.ts';

/** Returns the schema violations of a value; empty when the value is valid. */
export type SchemaCheck = (value: Json) => readonly string[];

const MAX_SCHEMA_LENGTH = 65_536;

/** The maximum cost of one check: about 6 ms. A value of 1 MB costs an ordinary schema a little less. */
const MAX_CHECK_COST = 300_000;

/**
 * Compiled schemas. A schema is part of a definition, an agent or a run in memory, so what is kept here is bounded with
 * these.
 */
const compiled = new WeakMap<JsonObject, Compiled>();

/** Throws an Error whose message explains the problem. External references are not followed. */
export function compileSchema(schema: JsonObject): SchemaCheck {
  const { check, unknownFormats } = compile(schema);
  for (const name of unknownFormats) throw unknownFormat(name);
  return (value) => problemsOf(check, value);
}

/**
 * The violations of a value by a schema that was accepted before, perhaps by an older host: this one may refuse the
 * schema or not know a format. Never throws.
 */
export function schemaProblems(schema: JsonObject, value: Json): readonly string[] {
  try {
    return problemsOf(compile(schema).check, value);
  } catch (error) {
    return [`the value cannot be checked, because its schema is refused: ${firstLineOf(error)}`];
  }
}

/** Why a schema of others cannot check values; null if it can. Formats that are not known are ignored. */
export function schemaRefusal(schema: JsonObject): string | null {
  try {
    compile(schema);
    return null;
  } catch (error) {
    return firstLineOf(error);
  }
}

function compile(schema: JsonObject): Compiled {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const { length } = JSON.stringify(schema);
  if (length > MAX_SCHEMA_LENGTH) {
    throw new RangeError(`the schema has ${length} characters; at most ${MAX_SCHEMA_LENGTH} are allowed`);
  }
  partsOf(schema);
  const made = compileRoot(schema);
  compiled.set(schema, made);
  return made;
}

function problemsOf(check: Compiled['check'], value: Json): readonly string[] {
  const at = startChecking(MAX_CHECK_COST);
  try {
    return check(value, at) ? [] : errorTexts(at);
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error;
    return ['the value is too large to be checked by this schema'];
  }
}
