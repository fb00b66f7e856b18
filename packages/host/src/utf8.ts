/** The size of texts in UTF-8, which is what limits, stores and connections count. The only file of the host that measures it. */

export const utf8Size = (text: string): number => Buffer.byteLength(text);

/** Whether a text is longer than so many bytes; most texts need no counting. */
export function exceedsUtf8(text: string, bytes: number): boolean {
  // UTF-8 takes one to three bytes for each UTF-16 unit.
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || utf8Size(text) > bytes;
}

/** The longest beginning that has at most so many bytes and cuts no character. */
export function utf8Prefix(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return read === text.length ? text : text.slice(0, read);
}
