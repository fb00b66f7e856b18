/** A raw connection that sends arbitrary bytes and reads the responses. Not shipped. */
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; of a repeated header, the last value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** An event stream: only its headers were read. */
  readonly isStream: boolean;
}

export class RawConnection {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
    const closed = () => {
      this.#isClosed = true;
      this.#wake();
    };
    socket.on('end', closed).on('close', closed).on('error', closed);
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new RawConnection(socket)));
      socket.setNoDelay(true).once('error', reject);
    });
  }

  /** One request with the path as it is: fetch would tidy it. */
  static async get(port: number, path: string): Promise<RawResponse | null> {
    const connection = await RawConnection.open(port);
    connection.send(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    return connection.response();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Waits until the host has accepted the headers of a request with `Expect: 100-continue`. */
  async continued(): Promise<void> {
    while (!this.#bytes.includes('\r\n\r\n') && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const head = this.#bytes.toString('latin1', 0, 12);
    if (head !== 'HTTP/1.1 100') throw new Error(`Instead of going on, the host answered ${JSON.stringify(head)}.`);
  }

  /** The next response, or null when the connection ends first. Skips interim responses (1xx). */
  async response(method = 'GET'): Promise<RawResponse | null> {
    for (;;) {
      const found = parse(this.#bytes, { method, isClosed: this.#isClosed });
      if (found !== null) {
        this.#bytes = this.#bytes.subarray(found.length);
        if (found.response.status >= 200) return found.response;
        continue;
      }
      if (this.#isClosed) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

interface Reading {
  readonly method: string;
  readonly isClosed: boolean;
}

/** The first response in the bytes and its length, or null while it is incomplete. */
function parse(bytes: Buffer, { method, isClosed }: Reading): { response: RawResponse; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const start = headEnd + 4;
  const isStream = headers['content-type'] === 'text/event-stream';
  const done = (length: number, body: string) => ({ response: { status, headers, body, isStream }, length });
  if (isStream || method === 'HEAD' || status < 200 || status === 204 || status === 304) return done(start, '');
  if (headers['transfer-encoding'] === 'chunked') return parseChunks(bytes, start, done);
  const length = headers['content-length'];
  if (length === undefined) return isClosed ? done(bytes.length, bytes.toString('utf8', start)) : null;
  const end = start + Number(length);
  return bytes.length < end ? null : done(end, bytes.toString('utf8', start, end));
}

function parseChunks<Done>(bytes: Buffer, start: number, done: (length: number, body: string) => Done): Done | null {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return null;
    if (size === 0) return done(end, Buffer.concat(parts).toString('utf8'));
    parts.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}
