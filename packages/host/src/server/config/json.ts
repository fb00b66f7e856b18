/** JSON of the configuration, out of the file or a variable: refused without repeating what may be secret. */
import { TerminalError } from '@cairn/protocol';

export function parseConfigJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's message may quote the text, and a configuration holds keys: only the place is repeated.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec((cause as Error).message)?.[0];
    throw new TerminalError('config_invalid', {
      message: `${source} is not valid JSON${place === undefined ? '' : ` at ${place}`}.`,
      hint: 'Comments and trailing commas are not part of JSON.',
    });
  }
}
