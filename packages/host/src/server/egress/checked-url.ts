/** An address in a request body: refused with the request, not first when something is to be sent there. */
import { isCairnError, TerminalError } from '@cairn/protocol';
import type { Egress } from './egress.ts';

/** Throws `validation_error` for the field; what the name resolves to later is checked again at each sending. */
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
