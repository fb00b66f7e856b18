/** zod definitions that several wire shapes share, so that each bound is defined once. */
import { z } from 'zod';
import type { DataOf } from './data-of.ts';
import type { ErrorCode } from './errors.ts';
import type { EventId, RunId } from './ids.ts';
import type { Json } from './json.ts';

/**
 * Any JSON value. Its name lets JSON Schemas refer to it instead of repeating it. A function checks it: a union of zod
 * shapes took 3 µs for each part of a value, half a second for a request of 1 MB.
 */
export const json: z.ZodType<Json> = z.custom<Json>(isJson).meta({ id: 'Json' });
/** Any JSON object. */
export const jsonObject = z.record(z.string(), json);

function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isPlainObject(value) && Object.values(value).every(isJson);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
/** Text with at least one character. */
export const text = z.string().min(1);
/** The same schema, with a string type that is narrower for the compiler. */
const typed = <Text extends string>(schema: z.ZodType<string>): z.ZodType<Text> => schema as z.ZodType<Text>;
/** The id of a run. */
export const runId: z.ZodType<RunId> = typed(text);

/** The id of an event, perhaps of another host. */
export const eventId: z.ZodType<EventId> = typed(z.string().min(1).max(128));
/** An ISO 8601 instant, as written on the wire. */
export const instant = z.iso.datetime({ offset: true });
/** A whole number from 0. */
export const count = z.int().min(0);
/** A whole number from 1. */
export const ordinal = z.int().min(1);
/** A share between 0 and 1. */
export const share = z.number().min(0).max(1);
/** An agent's id inside a payload. */
export const agentId = z.string().min(3).max(256);
/** Typed as an `ErrorCode` for writers. At run time any text is valid, because a log may come from another host. */
const errorCode: z.ZodType<ErrorCode> = typed(text);
/** The error object of run, node and step events (open). */
export const errorObject = z.looseObject({
  code: errorCode,
  message: text,
  details: jsonObject.optional(),
  retryable: z.boolean().optional(),
});
/** The budget that a run shares with its descendants. An absent limit is unlimited. */
export const runBudget = z.looseObject({
  maxTokens: z.number().optional(),
  maxCostUsd: z.number().optional(),
  maxToolCalls: z.number().optional(),
  /** Maximum number of descendants. */
  maxRuns: z.number(),
});
/** Who owns a run (closed). The tenant comes from the credential. */
export const owner = z.strictObject({
  tenant: text,
  workspace: text.optional(),
  principal: text.optional(),
});

export type ErrorObject = DataOf<typeof errorObject>;
export type Owner = DataOf<typeof owner>;
