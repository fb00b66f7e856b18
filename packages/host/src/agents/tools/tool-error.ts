/** Converts errors of tools to records and back. */
import {
  type ErrorCode,
  errorKinds,
  isCairnError,
  type Json,
  quoted,
  RetryableError,
  TerminalError,
  thrownText,
} from '@cairn/protocol';
import type { Redactor } from '../../engine/ports.ts';
import type { ToolError } from './tool.ts';

const MAX_MESSAGE = 2000;

/** Redacts before it cuts the message: a secret that is cut in two would not be found. */
export function toolError(error: unknown, redactor: Redactor | null): ToolError {
  const clean = (text: string): string =>
    (redactor === null ? text : redactor.text(text)).slice(0, MAX_MESSAGE).toWellFormed();
  if (isCairnError(error)) return { code: error.code, message: clean(error.message), retryable: error.retryable };
  const message = quoted(clean(thrownText(error)), MAX_MESSAGE);
  return { code: 'tool_failed', message: `The tool threw ${message}.`, retryable: false };
}

/** How a ctx call ended, as recorded. */
export type Settled = { readonly outcome: Json } | { readonly error: ToolError };

/** The outcome of a ctx call; throws its error. */
export function outcomeOf(settled: Settled): Json {
  if ('error' in settled) throw thrownAgain(settled.error);
  return settled.outcome;
}

/** Rebuilds the error of a record. Every entry throws the same error, including the first. */
function thrownAgain({ code, message, retryable, reason }: ToolError): Error {
  const known: ErrorCode = Object.hasOwn(errorKinds, code) ? (code as ErrorCode) : 'tool_failed';
  const about = { message, ...(reason !== undefined && { details: { reason } }) };
  return retryable ? new RetryableError(known, about) : new TerminalError(known, about);
}

export const failed = (code: ErrorCode, message: string, retryable = false) =>
  ({ kind: 'failed', error: { code, message, retryable } }) as const;
