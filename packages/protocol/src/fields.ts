/** The small zod definitions that several wire shapes share, so that a name or a bound is written once. */
import { z } from 'zod';
import type { Json } from './json.ts';

/** Any JSON value. It has a name, so that schemas refer to it instead of each bringing a copy. */
export const json: z.ZodType<Json> = z
  .lazy(() => z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]))
  .meta({ id: 'Json' });
/** Any JSON object. */
export const jsonObject = z.record(z.string(), json);
/** Text with at least one character. */
export const text = z.string().min(1);
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
/** The error object of run, node and step events (open). */
export const errorObject = z.looseObject({
  code: text,
  message: text,
  details: jsonObject.optional(),
  retryable: z.boolean().optional(),
});
/** Who owns a run (closed). The tenant comes from the credential. */
export const owner = z.strictObject({
  tenant: text,
  workspace: text.optional(),
  principal: text.optional(),
});

export type ErrorObject = z.infer<typeof errorObject>;
export type Owner = z.infer<typeof owner>;
