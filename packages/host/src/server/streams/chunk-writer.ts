/** A response in chunks of one write each, encoded once for all streams that get the same text in a row. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { utf8Size } from '../../utf8.ts';

/** What ends a body in chunks. */
const LAST_CHUNK = '0\r\n\r\n';

/**
 * Node's own chunks are four writes (length, break, text, break), gathered at the end of the turn, for each commit of each
 * subscriber. Here the response believes that its body is sent as it is, and the chunks are put together beforehand: one
 * text, one write. A client whose HTTP has no chunks gets the bare text.
 */
export class ChunkWriter {
  #text = '';
  #bytes: Buffer | null = null;

  /** Sets the head, which goes out with what is written first. */
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

  /** Writes once the head is out. False when the client has enough for now; the response then emits `drain`. */
  write(response: ServerResponse, text: string): boolean {
    return put(response, hasChunks(response) ? this.#chunkOf(text) : text);
  }

  /** Ends the response, after this text if there is any. */
  end(response: ServerResponse, text = ''): void {
    if (!hasChunks(response)) {
      response.end(text);
      return;
    }
    // In one write with the text. Left to `end`, it would be gathered with an empty one for the callback.
    put(response, text === '' ? LAST_CHUNK : chunk(text) + LAST_CHUNK);
    response.end();
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

/** Not so for HTTP/1.0. */
const hasChunks = (response: ServerResponse): boolean => response.useChunkedEncodingByDefault;

/** Past the response when its head is out and it holds nothing back, so that the socket's order is the stream's. */
function put(response: ServerResponse, piece: string | Buffer): boolean {
  const { socket } = response;
  if (socket === null || response.writableNeedDrain || socket.writableCorked > 0) return response.write(piece);
  const hasRoom = socket.write(piece);
  if (!hasRoom) socket.once('drain', () => response.emit('drain'));
  return hasRoom;
}

const chunk = (text: string): string => `${utf8Size(text).toString(16)}\r\n${text}\r\n`;
