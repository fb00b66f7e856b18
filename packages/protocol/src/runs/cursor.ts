/** Positions in a log as text: `Last-Event-ID`, `lastSequence` and their like, parsed strictly. */
import { quoted, TerminalError } from '../errors.ts';

/** A whole number from 0, written in decimal without sign or leading zeros. `name` is the header or parameter it came in. */
export function parsePosition(text: string, name: string): number {
  const position = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(position)) return position;
  throw new TerminalError('validation_error', {
    message: `${name} must be a whole number from 0, not ${quoted(text, 60)}.`,
    hint: 'Send the id of the last event you received, or leave it out to begin at the first.',
    details: { parameter: name },
  });
}
