/**
 * One keep-alive HTTP/1.1 connection with minimal overhead, so that the load generator does not distort the
 * measurement.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { TerminalError } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';

export interface Reply {
  readonly status: number;
  /** The raw body, including chunk sizes. Empty when `onBytes` received it. */
  readonly body: string;
}

/** How a body ends: after a byte count, or with the last chunk. */
type BodyEnd = { readonly length: number } | 'last-chunk';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export class HttpConnection {
  readonly #port: number;
  #socket: Socket | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one request at a time. With `onBytes`, the body is passed on as it arrives and not kept. */
  async send(request: string, onBytes?: (bytes: Buffer) => void): Promise<Reply> {
    const socket = await this.#connected();
    return new Promise((resolve, reject) => {
      const reading = new ReplyReader(onBytes, (reply) => {
        socket.off('data', read).off('close', closed);
        resolve(reply);
      });
      const read = (bytes: Buffer) => reading.take(bytes);
      const closed = () => {
        const message = `The server on port ${this.#port} closed the connection in the middle of a reply.`;
        reject(new TerminalError('internal_error', { message, hint: 'See what the server wrote on stderr.' }));
      };
      socket.on('data', read).on('close', closed);
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #connected(): Promise<Socket> {
    if (this.#socket !== null && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    // Errors end in 'close', which the pending request reports.
    socket.on('error', () => {});
    this.#socket = socket;
    return socket;
  }
}

class ReplyReader {
  readonly #onBytes: ((bytes: Buffer) => void) | undefined;
  readonly #done: (reply: Reply) => void;
  #kept: Buffer[] = [];
  #received = 0;
  #status = 0;
  #end: BodyEnd | null = null;
  #tail: Buffer = Buffer.alloc(0);

  constructor(onBytes: ((bytes: Buffer) => void) | undefined, done: (reply: Reply) => void) {
    this.#onBytes = onBytes;
    this.#done = done;
  }

  take(bytes: Buffer): void {
    const body = this.#end === null ? this.#takeHead(bytes) : bytes;
    if (body === null || this.#end === null) return;
    this.#received += body.length;
    if (this.#onBytes === undefined) this.#kept.push(body);
    else this.#onBytes(body);
    if (this.#ended(body)) this.#done({ status: this.#status, body: Buffer.concat(this.#kept).toString() });
  }

  /** Returns the bytes after the head, or null while the head is incomplete. */
  #takeHead(bytes: Buffer): Buffer | null {
    this.#tail = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes]);
    const at = this.#tail.indexOf(HEAD_END);
    if (at < 0) return null;
    const head = this.#tail.toString('latin1', 0, at);
    const body = this.#tail.subarray(at + HEAD_END.length);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#status = Number(head.slice(9, 12));
    this.#end = length === undefined ? 'last-chunk' : { length: Number(length) };
    this.#tail = Buffer.alloc(0);
    return body;
  }

  #ended(body: Buffer): boolean {
    if (this.#end !== 'last-chunk') return this.#received >= present(this.#end).length;
    const tail = body.length >= LAST_CHUNK.length ? body : Buffer.concat([this.#tail, body]);
    this.#tail = Buffer.from(tail.subarray(-LAST_CHUNK.length));
    return this.#tail.equals(LAST_CHUNK);
  }
}

/** Builds the text of a request with a bearer key. */
export function requestText(request: {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly accept?: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}): string {
  const { method, path, key, accept, headers = {}, body } = request;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${more.join('')}`;
  const accepts = accept === undefined ? '' : `Accept: ${accept}\r\n`;
  if (body === undefined) return `${head}${accepts}\r\n`;
  return `${head}${accepts}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
