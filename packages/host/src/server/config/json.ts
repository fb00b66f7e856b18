/** JSON of the configuration, out of the file or a variable: refused without repeating what may be secret. */
import { type Json, quoted, TerminalError, thrownText } from '@cairn/protocol';
import { repeatedKeyIn } from '../http/json-body.ts';

export function parseConfigJson(text: string, source: string): unknown {
  const value = parsed(text, source);
  const repeated = repeatedKeyIn(text, value);
  if (repeated === null) return value;
  // Only the last would count, and its reader would believe in the first.
  throw new TerminalError('config_invalid', {
    message: `${source} has the key ${quoted(repeated, 60)} twice in one object.`,
    hint: 'Keep one of them.',
  });
}

function parsed(text: string, source: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's message may quote the text, and a configuration holds keys: only the place is repeated.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec(thrownText(cause))?.[0];
    throw new TerminalError('config_invalid', {
      message: `${source} is not valid JSON${place === undefined ? '' : ` at ${place}`}.`,
      hint: 'Comments and trailing commas are not part of JSON.',
    });
  }
}
