/** Splits a byte stream into lines, holding at most one line in memory. */
import { TerminalError } from '@cairn/protocol';

/** Longest line: an event of maximum size with every byte escaped, plus its columns. */
const MAX_LINE_BYTES = 8_388_608;

const NEWLINE = 10;

/** Every line ends with a newline, including the last. Invalid UTF-8 and overlong lines are rejected. */
export function* linesOf(chunks: Iterable<Uint8Array>): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > MAX_LINE_BYTES) throw wrong(number, `it is longer than ${MAX_LINE_BYTES} bytes`);
    parts.push(part);
  };
  const line = (): string => {
    let text = '';
    try {
      for (const part of parts) text += decoder.decode(part, { stream: true });
      text += decoder.decode();
    } catch {
      throw wrong(number, 'it is not UTF-8');
    }
    parts = [];
    length = 0;
    number += 1;
    return text;
  };
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    // Copies the bytes (`slice` of a Buffer does not): file readers reuse the same buffer for the next chunk.
    if (start < chunk.length) add(new Uint8Array(chunk.subarray(start)));
  }
  if (length > 0) throw wrong(number, 'it does not end');
}

const wrong = (line: number, why: string): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `Line ${line} is wrong: ${why}.`,
    hint: 'Check that the file is a bundle, and copy it again.',
    details: { line },
  });
