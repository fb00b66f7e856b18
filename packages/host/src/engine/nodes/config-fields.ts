/** Zod fields that several node types share. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { firstLineOf } from '../values/error-text.ts';
import { compileExpression, type Expression } from '../values/expressions.ts';
import { compileSchema } from '../values/schemas.ts';
import { MAX_SPAN_MS } from '../workflow/node-settings.ts';

/** For steps: their functions validate the config together with the inputs. */
export const anyConfig = z.looseObject({});

/** For node types that have no settings. */
export const noConfig = z.strictObject({});

/** Any JSON value, passed through unchanged: definitions are parsed as JSON before a node type reads them. */
export const anyJson = z.custom<Json>(() => true);

/** Any JSON object. Keeps the order of its keys, which matters for recorded data. */
export const anyJsonObject = z.record(z.string(), anyJson);

/** Text with at least one character. */
export const text = z.string().min(1);

/** A whole number without an upper bound; `z.int()` stops at 2^53. */
export const wholeNumber = (from: number) =>
  z.number().min(from).refine(Number.isInteger, 'must be a whole number').meta({ type: 'integer' });

/** A timeout in ms. */
export const waitMs = z.int().min(1).max(MAX_SPAN_MS);

/** A setting that published workflows contain and this host does not read. */
export const unread = z.custom<Json>(() => true).optional();

/** A CEL expression, compiled when the config is parsed. */
export const expression = z.string().transform((source, context) => compiledExpression(source, context));

export function compiledExpression(source: string, context: z.RefinementCtx): Expression {
  try {
    return compileExpression(source);
  } catch (error) {
    context.addIssue({ code: 'custom', message: firstLineOf(error) });
    return z.NEVER;
  }
}

/** A user-defined JSON Schema. It must compile. */
export const jsonSchema = anyJsonObject
  .superRefine((schema, context) => {
    const problem = schemaProblem(schema);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ description: 'A JSON Schema (2020-12).' });

/** Why a JSON Schema does not compile; null when it does. */
export function schemaProblem(schema: JsonObject): string | null {
  try {
    compileSchema(schema);
    return null;
  } catch (error) {
    return firstLineOf(error);
  }
}

/** For fields with older names: `rename` moves the value to the name in the schema. */
export const renamed = <Schema extends z.ZodType>(rename: (config: JsonObject) => JsonObject, schema: Schema) =>
  z.preprocess((given: z.input<Schema>) => {
    const config = given as Json;
    return isJsonObject(config) ? rename(config) : config;
  }, schema);
