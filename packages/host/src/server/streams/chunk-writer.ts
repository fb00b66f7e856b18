/** Writes each chunk of a response with one call, encoded once for all streams that share a text. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ChunkText } from '../../log/feed/sink.ts';
import { utf8Size } from '../../utf8.ts';

/** Ends a chunked body. */
const LAST_CHUNK = '0\r\n\r\n';

/**
 * Node makes four writes of a chunk (length, break, text, break) and gathers them at the end of the turn. This class frames
 * the chunk itself and tells the response that its body is not chunked: one text, one write for each commit and subscriber.
 * A client of HTTP/1.0 gets the bare text.
 */
export class ChunkWriter {
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
    return response.write(hasChunks(response) ? chunkOf(text) : text);
  }

  /** Writes after the head is out. False when the socket is full; the response emits `drain` later. */
  write(response: ServerResponse, chunk: ChunkText): boolean {
    return put(response, hasChunks(response) ? framed(chunk) : chunk.text);
  }

  /** Writes a whole response: head, text and end in one write. */
  writeWhole(response: ServerResponse, text: string): void {
    if (!hasChunks(response)) {
      response.end(text);
      return;
    }
    const { socket } = response;
    // Node joins the head with the first text. Left corked, `end` would add an empty write for its callback.
    socket?.cork();
    response.write(text === '' ? LAST_CHUNK : chunkOf(text) + LAST_CHUNK);
    socket?.uncork();
    response.end();
  }

  /** Ends the response after the head is out, and after this text if there is any. */
  end(response: ServerResponse, text = ''): void {
    if (!hasChunks(response)) {
      response.end(text);
      return;
    }
    // In one write with the text; `end` would add an empty write for its callback.
    put(response, text === '' ? LAST_CHUNK : chunkOf(text) + LAST_CHUNK);
    response.end();
  }
}

/** Most texts have one stream, which gets them as they are. */
function framed({ text, shared }: ChunkText): string | Uint8Array {
  if (shared === undefined) return chunkOf(text);
  shared.bytes ??= Buffer.from(chunkOf(text));
  return shared.bytes;
}

/** HTTP/1.0 has no chunks. */
const hasChunks = (response: ServerResponse): boolean => response.useChunkedEncodingByDefault;

/** Bypasses the response while it holds nothing back, so that the order of the socket is that of the stream. */
function put(response: ServerResponse, piece: string | Uint8Array): boolean {
  const { socket } = response;
  if (socket === null || response.writableNeedDrain || socket.writableCorked > 0) return response.write(piece);
  const hasRoom = socket.write(piece);
  if (!hasRoom) socket.once('drain', () => response.emit('drain'));
  return hasRoom;
}

const chunkOf = (text: string): string => `${utf8Size(text).toString(16)}\r\n${text}\r\n`;
