/** The error for wrong usage of the command line. */
import { TerminalError } from '@cairn/protocol';

export const usageError = (message: string, hint: string): TerminalError =>
  new TerminalError('validation_error', { message, hint });
