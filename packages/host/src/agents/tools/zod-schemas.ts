/** The zod schemas of tools: their JSON Schema, and parsing that names a few problems and never throws. */
import type { Json, JsonObject } from '@cairn/protocol';
import { z } from 'zod';

const MAX_PROBLEMS = 5;

export type Parsed<Value> =
  | { readonly value: Value }
  | { readonly problems: readonly string[] }
  /** An asynchronous schema, or one whose own code throws, rejects every value. */
  | { readonly refused: string };

export function parsed<Value>(schema: z.ZodType<Value>, given: Json): Parsed<Value> {
  try {
    const { success, data, error } = schema.safeParse(given);
    return success ? { value: data } : { problems: issuesOf(error) };
  } catch {
    // The thrown message is not repeated: it has not been redacted.
    return { refused: 'the schema of the tool cannot check it: it threw, or would have to wait' };
  }
}

const issuesOf = (error: z.ZodError): readonly string[] =>
  error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the value'}: ${message}`.slice(0, 300));

/** Throws when JSON Schema cannot state it. */
export function toolSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest as JsonObject;
}
