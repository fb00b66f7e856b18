/** Chunks of a response in one write each, encoded once for all streams that get the same text in a row. */
import type { ServerResponse } from 'node:http';

export class ChunkWriter {
  #text = '';
  #bytes: Buffer | null = null;

  /**
   * `response.write` makes four writes of a chunk (length, break, text, break), gathered at the end of the turn, for each
   * commit of each subscriber. Here it is one. The head is out by then, so that the socket's order is the stream's; while
   * the response itself still holds something back, or the client's HTTP has no chunks, it goes on writing.
   */
  write(response: ServerResponse, text: string): boolean {
    const { socket } = response;
    if (socket === null || !response.chunkedEncoding || response.writableNeedDrain || socket.writableCorked > 0) {
      return response.write(text);
    }
    const hasRoom = socket.write(this.#chunkOf(text));
    if (!hasRoom) socket.once('drain', () => response.emit('drain'));
    return hasRoom;
  }

  /** The first to get a text gets it as it is: most have one reader. The bytes are made for the second and kept for the rest. */
  #chunkOf(text: string): string | Buffer {
    if (text !== this.#text) {
      this.#text = text;
      this.#bytes = null;
      return chunk(text);
    }
    this.#bytes ??= Buffer.from(chunk(text));
    return this.#bytes;
  }
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
