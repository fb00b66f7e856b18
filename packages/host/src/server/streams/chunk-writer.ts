/** Writes each chunk of a response with one call, encoded once for all streams that get the same text in a row. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { utf8Size } from '../../utf8.ts';

/** Ends a chunked body. */
const LAST_CHUNK = '0\r\n\r\n';

/**
 * Node makes four writes of a chunk (length, break, text, break) and gathers them at the end of the turn. This class frames
 * the chunk itself and tells the response that its body is not chunked: one text, one write for each commit and subscriber.
 * A client of HTTP/1.0 gets the bare text.
 */
export class ChunkWriter {
  #text = '';
  #bytes: Buffer | null = null;

  /** Sets the head, which goes out with the first write. */
  begin(response: ServerResponse, headers: OutgoingHttpHeaders): void {
    if (!hasChunks(response)) {
      response.writeHead(200, headers);
      return;
    }
    response.writeHead(200, { ...headers, 'transfer-encoding': 'chunked' });
    response.chunkedEncoding = false;
  }

  /** Writes the head, and the first text with it. */
  writeFirst(response: ServerResponse, text: string): boolean {
    return response.write(hasChunks(response) ? chunk(text) : text);
  }

  /** Writes after the head is out. False when the socket is full; the response emits `drain` later. */
  write(response: ServerResponse, text: string): boolean {
    return put(response, hasChunks(response) ? this.#chunkOf(text) : text);
  }

  /** Ends the response, after this text if there is any. */
  end(response: ServerResponse, text = ''): void {
    if (!hasChunks(response)) {
      response.end(text);
      return;
    }
    // In one write with the text; `end` would add an empty write for its callback.
    put(response, text === '' ? LAST_CHUNK : chunk(text) + LAST_CHUNK);
    response.end();
  }

  /** The first stream gets the text as it is: most texts have one. The second makes the bytes, and the rest share them. */
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

/** HTTP/1.0 has no chunks. */
const hasChunks = (response: ServerResponse): boolean => response.useChunkedEncodingByDefault;

/** Bypasses the response while it holds nothing back, so that the order of the socket is that of the stream. */
function put(response: ServerResponse, piece: string | Buffer): boolean {
  const { socket } = response;
  if (socket === null || response.writableNeedDrain || socket.writableCorked > 0) return response.write(piece);
  const hasRoom = socket.write(piece);
  if (!hasRoom) socket.once('drain', () => response.emit('drain'));
  return hasRoom;
}

const chunk = (text: string): string => `${utf8Size(text).toString(16)}\r\n${text}\r\n`;
