/** Parses JSON of the configuration, from the file or a variable. Errors do not repeat text that may be secret. */
import { type Json, quoted, TerminalError, thrownText } from '@cairn/protocol';
import { repeatedKeyIn } from '../../repeated-key.ts';

export function parseConfigJson(text: string, source: string): unknown {
  const value = parsed(text, source);
  const repeated = repeatedKeyIn(text, value);
  if (repeated === null) return value;
  // JSON.parse keeps only the last duplicate, while a reader may expect the first.
  throw new TerminalError('config_invalid', {
    message: `${source} has the key ${quoted(repeated, 60)} twice in one object.`,
    hint: 'Keep one of them.',
  });
}

function parsed(text: string, source: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's message may quote the text, and a configuration contains keys. Only the position is repeated.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec(thrownText(cause))?.[0];
    throw new TerminalError('config_invalid', {
      message: `${source} is not valid JSON${place === undefined ? '' : ` at ${place}`}.`,
      hint: 'Comments and trailing commas are not part of JSON.',
    });
  }
}
