/** The error of a row as the task view says it. */
import type { ErrorObject } from '../fields.ts';
import type { JsonObject } from '../json.ts';

export type ErrorInfo = { code: string; message: string; retryable: boolean; details?: JsonObject };

export const errorInfo = (error: ErrorObject): ErrorInfo => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable ?? false,
  ...(error.details !== undefined && { details: error.details }),
});
