/** Open SSE responses: keepalives for the living, an end for those that stopped reading, all of them ended when the host stops. */
import type { ServerResponse } from 'node:http';
import type { Report } from '../engine/ports.ts';
import type { FeedRange, LiveFeed, Subscription } from '../log/feed.ts';
import type { Timers } from './timers.ts';

/** Between two keepalives; the wire asks for one at least every 30 s. */
export const KEEPALIVE_MS = 20_000;

/** A client that took nothing for this many keepalives in a row is gone: 60 s and a part of the next span. */
const STALLED_TICKS = 4;

export interface StreamWorld {
  readonly feed: LiveFeed;
  readonly timers: Timers;
  readonly report: Report;
}

interface Stream {
  readonly response: ServerResponse;
  subscription: Subscription | null;
  written: boolean;
  stalled: boolean;
  stalledTicks: number;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies of the nginx family would otherwise hold frames back.
  'x-accel-buffering': 'no',
};

export class EventStreams {
  readonly #open = new Set<Stream>();
  readonly #feed: LiveFeed;
  readonly #timers: Timers;
  readonly #report: Report;
  #cancelTick: (() => void) | null = null;

  constructor({ feed, timers, report }: StreamWorld) {
    this.#feed = feed;
    this.#timers = timers;
    this.#report = report;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Writes the run's events after a position to the response, then whatever follows, until the terminal one. */
  serve(response: ServerResponse, range: FeedRange): void {
    const stream: Stream = { response, subscription: null, written: false, stalled: false, stalledTicks: 0 };
    this.#open.add(stream);
    this.#cancelTick ??= this.#timers.after(KEEPALIVE_MS, () => this.#tick());
    response.on('close', () => this.#drop(stream));
    response.on('drain', () => {
      stream.stalled = false;
      stream.stalledTicks = 0;
      stream.subscription?.resume();
    });
    response.writeHead(200, HEADERS);
    // A client must learn that it is connected although nothing happens; when something does, one write carries both.
    setImmediate(() => {
      if (!response.headersSent || stream.written || response.destroyed) return;
      response.flushHeaders();
    });
    stream.subscription = this.#feed.subscribe(range, {
      write: (chunk) => {
        const more = stream.written ? writeChunk(response, chunk) : response.write(chunk);
        stream.written = true;
        if (!more) stream.stalled = true;
        return more;
      },
      // The end of the stream goes out with its last frames.
      writeLast: (chunk) => response.end(chunk),
      end: (fault) => {
        if (fault === undefined) {
          if (!response.writableEnded) response.end();
          return;
        }
        this.#report({ level: 'error', message: `The stream of ${range.runId} could not be read on.`, error: fault });
        // Cut, not ended: the client must not take this for the end of the run.
        response.destroy();
      },
    });
    if (response.destroyed) this.#drop(stream);
  }

  /** Ends every stream; clients come back with their last id when the host does. */
  close(): void {
    for (const stream of [...this.#open]) {
      this.#drop(stream);
      stream.response.end();
    }
  }

  #drop(stream: Stream): void {
    stream.subscription?.close();
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #tick(): void {
    this.#cancelTick = this.#timers.after(KEEPALIVE_MS, () => this.#tick());
    for (const stream of [...this.#open]) {
      if (!stream.stalled) {
        stream.stalled = !stream.response.write(':keepalive\n\n');
      } else {
        stream.stalledTicks += 1;
        if (stream.stalledTicks >= STALLED_TICKS) stream.response.destroy();
      }
    }
  }
}

/**
 * One chunk in one write. `response.write` makes four of it (length, break, text, break), gathered at the end of the turn,
 * for each commit of each subscriber. The head is out by then, so that the socket's order is the stream's;
 * while the response itself still holds something back, it goes on writing.
 */
function writeChunk(response: ServerResponse, text: string): boolean {
  const { socket } = response;
  if (socket === null || response.writableNeedDrain || socket.writableCorked > 0) return response.write(text);
  const hasRoom = socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  if (!hasRoom) socket.once('drain', () => response.emit('drain'));
  return hasRoom;
}
