/** Errors in the task view. */
import type { ErrorObject } from '../fields.ts';
import type { JsonObject } from '../json.ts';

export type ErrorInfo = { code: string; message: string; retryable: boolean; details?: JsonObject };

/** An error with any code, for example the status of a tool call. */
export type Failure = Omit<ErrorObject, 'code'> & { readonly code: string };

export const errorInfo = (error: Failure): ErrorInfo => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable ?? false,
  ...(error.details !== undefined && { details: error.details }),
});

/** The text of a failed call. Every front end can tell a canceled one by it. */
export const failureText = ({ code, message }: ErrorInfo): string => (code === 'tool_canceled' ? 'canceled' : message);
