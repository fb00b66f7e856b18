/** Checks an address in a request body, so that the request is refused rather than a later delivery. */
import { isCairnError, TerminalError } from '@cairn/protocol';
import type { Egress } from './egress.ts';

/** Throws `validation_error` for the field. Each send resolves and checks the name again. */
export async function checkedUrl(egress: Egress, url: string, field: string): Promise<void> {
  try {
    await egress.check(url);
  } catch (error) {
    if (!isCairnError(error)) throw error;
    throw new TerminalError('validation_error', {
      message: `${field}: ${error.message}`,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      details: { parameter: field, reason: error.code },
      cause: error,
    });
  }
}
