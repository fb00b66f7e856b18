/**
 * Counts the values in JSON as it arrives from another host. To read a message takes time by its values more than by its
 * bytes: a million empty lists have 3 MB, and would hold every other run for most of a second.
 */

/** Values of one message, of the parts of one task, and of the tools of one server. Reading so many takes some 20 ms. */
export const MAX_JSON_VALUES = 30_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
const OBJECT = 0x7b;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class JsonValues {
  readonly #isStream: boolean;
  #values = 0;
  #isText = false;
  #isEscaped = false;
  #isLineEmpty = true;
  #wasReturn = false;

  /** `isStream`: server-sent events, each with a message of its own. */
  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  /** Whether the message still has no more values than it may. */
  take(bytes: Uint8Array): boolean {
    let [quote, backslash] = [-1, -1];
    for (let i = 0; i < bytes.length; i += 1) {
      // Most of a message is text, which native searches skip. A line of a stream may end inside one.
      if (this.#isText && !this.#isEscaped && !this.#isStream) {
        // Each search goes on where the last one ended, so that all bytes are searched once.
        if (quote < i) quote = indexIn(bytes, QUOTE, i);
        if (backslash < i) backslash = indexIn(bytes, BACKSLASH, i);
        i = Math.min(quote, backslash);
      }
      const byte = bytes[i];
      if (byte === undefined) break;
      if (this.#isText) this.#inText(byte);
      else if (byte === QUOTE) this.#isText = true;
      else if (byte === COMMA || byte === LIST || byte === OBJECT) this.#values += 1;
      if (this.#isStream) this.#endLine(byte);
      if (this.#values > MAX_JSON_VALUES) return false;
    }
    return true;
  }

  #inText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isText = false;
  }

  /** An empty line ends an event. No text of JSON goes on in another line, which ends with CR, LF or both. */
  #endLine(byte: number): void {
    const isRest = byte === NEWLINE && this.#wasReturn;
    this.#wasReturn = byte === RETURN;
    if (isRest) return;
    if (byte !== NEWLINE && byte !== RETURN) {
      this.#isLineEmpty = false;
      return;
    }
    this.#isText = false;
    this.#isEscaped = false;
    if (this.#isLineEmpty) this.#values = 0;
    this.#isLineEmpty = true;
  }
}

const indexIn = (bytes: Uint8Array, byte: number, from: number): number => {
  const found = bytes.indexOf(byte, from);
  return found === -1 ? bytes.length : found;
};

/** Counts the values in a value, as far as `most` of them. */
export function valuesIn(value: unknown, most: number): number {
  let found = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && found <= most) {
    const one = open.pop();
    found += 1;
    if (typeof one === 'object' && one !== null) open.push(...Object.values(one));
  }
  return found;
}

export const isEventStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').startsWith('text/event-stream');
