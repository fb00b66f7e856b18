/** The body of every failed request: exactly a code, a message and, when there are any, details. */
import { z } from 'zod';
import type { DataOf } from './data-of.ts';
import type { CairnError, ErrorCode, ErrorDetails } from './errors.ts';
import { errorKinds } from './errors.ts';
import { text } from './fields.ts';
import type { JsonObject } from './json.ts';

export const errorEnvelope = z
  .strictObject({
    error: text,
    message: text,
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ErrorEnvelope' });

export type ErrorEnvelope = DataOf<typeof errorEnvelope>;

/** The envelope of an error; the hint travels in `details.hint`, since the envelope is closed. */
export function toEnvelope(error: CairnError): ErrorEnvelope {
  const details: ErrorDetails = {
    ...error.details,
    ...(error.hint !== undefined && { hint: error.hint }),
  };
  return {
    error: error.code,
    message: error.message === '' ? error.code : error.message,
    ...(Object.keys(details).length > 0 && { details: details as JsonObject }),
  };
}

/** The HTTP status of a code. */
export const statusOfCode = (code: ErrorCode): number => errorKinds[code].status;

/** The exit code of a command that failed with a code. */
export const exitOfCode = (code: ErrorCode): number => errorKinds[code].exit;
