/** One connection to a stream over a bare socket: counts and checks frames without keeping them, and can stop reading. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { KEY } from './stream-host.ts';

export interface FrameSource {
  readonly port: number;
  readonly path: string;
  /** The id before the first that it sends. Ids are dense. */
  readonly after: number;
}

export class FrameReader {
  readonly #socket: Socket;
  readonly #changed = new EventTarget();
  #rest = '';
  /** Id of the last complete frame. */
  last: number;
  frames = 0;
  /** Describes the first fault. Null while there is none. */
  fault: string | null = null;
  ended = false;

  constructor({ port, path, after }: FrameSource) {
    this.last = after;
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('close', () => {
      this.ended = true;
      this.#changed.dispatchEvent(new Event('change'));
    });
    this.#socket.on('error', (error) => {
      this.fault ??= error.message;
    });
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${KEY}\r\n\r\n`,
    );
  }

  /** Stops reading, so that the host's output accumulates in the buffers between the two. */
  stall(): void {
    this.#socket.pause();
  }

  wake(): void {
    this.#socket.resume();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.fault !== null || this.ended) throw new Error(this.fault ?? `the stream ended after ${this.last}`);
      await once(this.#changed, 'change');
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const all = this.#rest + text;
    let from = 0;
    for (let end = all.indexOf('\n\n'); end >= 0; end = all.indexOf('\n\n', from)) {
      const id = all.indexOf('id: ', from);
      if (id >= 0 && id < end) this.#see(Number.parseInt(all.slice(id + 4, id + 20), 10));
      from = end + 2;
    }
    this.#rest = all.slice(from);
    this.#changed.dispatchEvent(new Event('change'));
  }

  #see(id: number): void {
    if (id !== this.last + 1) this.fault ??= `event ${id} came after ${this.last}`;
    this.last = id;
    this.frames += 1;
  }
}
