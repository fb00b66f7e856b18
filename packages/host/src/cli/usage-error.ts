/** Something in the command line itself is wrong. */
import { TerminalError } from '@cairn/protocol';

export const usageError = (message: string, hint: string): TerminalError =>
  new TerminalError('validation_error', { message, hint });
