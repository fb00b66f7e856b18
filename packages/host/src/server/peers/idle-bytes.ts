/**
 * Hangs up on a peer that sends bytes without end that are part of no body: empty lines, a status line, extensions of
 * chunks. Node reads them for as long as a request may take, and nothing else counts them.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** For headers, trailers, and the frames of what arrives in small pieces. */
const MAX_IDLE = 32_768;
const MAX_IDLE_PER_BYTE = 8;

/**
 * Bytes that are parsed at once. A header costs 20 times as much once there are too many, and the parser goes on to the
 * end of its piece: 64 KiB of short headers would take a tenth of a second.
 */
const PIECE = 4_096;

/** The bytes of one request's response. */
export class IdleBytes {
  readonly #end: () => void;
  #socket: Socket | null = null;
  #before = 0;
  #body = 0;
  #isOver = false;

  /** `end`: called when there are too many. */
  constructor(end: () => void) {
    this.#end = end;
  }

  /** Sends a request whose response is counted. */
  static counted<Result>(bytes: IdleBytes, send: () => Result): Result {
    follow();
    beginning = bytes;
    try {
      return send();
    } finally {
      beginning = null;
    }
  }

  /** The request is sent on this connection, whose bytes are those of its response from now on. */
  readOn(socket: Socket): void {
    this.close();
    this.#socket = socket;
    this.#before = socket.bytesRead;
    const { read } = socket;
    // Node reads all that is there when it is told that something is.
    socket.read = (size) => {
      if (socket.destroyed || this.#hasEnded(socket)) return null;
      return read.call(socket, size ?? (socket.readableLength > PIECE ? PIECE : undefined));
    };
  }

  /** Bytes of the body were parsed. */
  took(bytes: number): void {
    this.#body += bytes;
  }

  /** The response is over. */
  close(): void {
    if (this.#socket !== null) Reflect.deleteProperty(this.#socket, 'read');
    this.#socket = null;
  }

  /** Ends the response in a turn of its own: a fetch that has just begun it would miss that. */
  #hasEnded(socket: Socket): boolean {
    const parsed = socket.bytesRead - this.#before - socket.readableLength;
    if (parsed - this.#body <= MAX_IDLE + this.#body * MAX_IDLE_PER_BYTE) return false;
    if (!this.#isOver) setImmediate(this.#end);
    this.#isOver = true;
    return true;
  }
}

/** The request that is created now, and those that were, as undici knows them. */
let beginning: IdleBytes | null = null;
const created = new WeakMap<object, IdleBytes>();

interface Told {
  readonly request: object;
  readonly socket: Socket;
}

let isFollowing = false;

/** What undici, the HTTP client of Node's fetch, tells of its requests. */
function follow(): void {
  if (isFollowing) return;
  isFollowing = true;
  subscribe('undici:request:create', (told) => {
    if (beginning !== null) created.set((told as Told).request, beginning);
  });
  subscribe('undici:client:sendHeaders', (told) => {
    const { request, socket } = told as Told;
    created.get(request)?.readOn(socket);
  });
}
