/** Open SSE responses: keepalives for the living, an end for those that stopped reading, all of them ended when the host stops. */
import type { ServerResponse } from 'node:http';
import { type RunId, type StreamMode, shownAs } from '@cairn/protocol';
import type { Report, Timers } from '../../engine/ports.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import { everything, type Form, type Lens, payloads } from '../../log/feed/lens.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { Batches } from './batches.ts';
import { ChunkWriter } from './chunk-writer.ts';
import type { SnapshotFeed } from './snapshot-feed.ts';

/** Between two keepalives; the wire asks for one at least every 30 s. */
export const KEEPALIVE_MS = 20_000;

/** A client that took nothing for this many keepalives in a row is gone: 60 s and a part of the next span. */
const STALLED_TICKS = 4;

export interface StreamWorld {
  readonly feed: LiveFeed;
  readonly snapshots: SnapshotFeed;
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
}

/** What a client asked to be streamed. */
export interface StreamWish {
  readonly runId: RunId;
  /** seq of the last event it has; null when it begins. */
  readonly lastSeq: number | null;
  readonly audience: 'client' | undefined;
  readonly modes: ReadonlySet<StreamMode>;
  /** How long events may be held back to go out together; 0 sends each as it comes. */
  readonly bufferMs: number;
  /** When the credential ends that the client showed; undefined for one that does not. */
  readonly expiresAt: number | undefined;
}

/** What is known of any stream, whatever it carries. */
interface Served {
  readonly bufferMs?: number;
  readonly expiresAt: number | undefined;
  /** What it is a stream of, for the report when it fails. */
  readonly what: string;
}

interface Stream {
  readonly response: ServerResponse;
  readonly batches: Batches | null;
  readonly expiresAt: number | undefined;
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
  readonly #world: StreamWorld;
  readonly #chunks = new ChunkWriter();
  #cancelTick: (() => void) | null = null;

  constructor(world: StreamWorld) {
    this.#world = world;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Writes what the client asked for to the response, then whatever follows, until the terminal event. */
  serve(response: ServerResponse, wish: StreamWish): void {
    const { runId, bufferMs, expiresAt } = wish;
    this.serveFrom(response, { bufferMs, expiresAt, what: runId }, (sink) => this.#subscribe(wish, sink));
  }

  /** Writes whatever a source gives, until it ends; keepalives, stalls and the end of the host are as for runs. */
  serveFrom(response: ServerResponse, served: Served, subscribe: (sink: Sink) => Subscription): void {
    const stream = this.#opened(response, served);
    this.#open.add(stream);
    this.#cancelTick ??= this.#world.timers.after(KEEPALIVE_MS, () => this.#tick());
    response.on('close', () => this.#drop(stream));
    response.on('drain', () => {
      stream.stalled = false;
      stream.stalledTicks = 0;
      stream.subscription?.resume();
    });
    this.#chunks.begin(response, HEADERS);
    this.#tellConnected(stream);
    stream.subscription = subscribe(this.#sinkOf(stream, served.what));
    if (response.destroyed) this.#drop(stream);
  }

  /** A client must learn that it is connected although nothing happens; when something does, one write carries both. */
  #tellConnected(stream: Stream): void {
    const { response } = stream;
    const tell = () => {
      if (!response.headersSent || stream.written || response.destroyed) return;
      response.flushHeaders();
    };
    // Twice: first events that are held back are not held longer than once.
    const { feed, timers } = this.#world;
    const ms = feed.pace.holdMs() * 2;
    if (ms === 0) setImmediate(tell);
    else timers.after(ms, tell);
  }

  #opened(response: ServerResponse, { bufferMs = 0, expiresAt }: Served): Stream {
    const send = (frame: string) => this.#send(stream, frame);
    const batches = bufferMs === 0 ? null : new Batches({ ms: bufferMs, timers: this.#world.timers, send });
    const stream: Stream = {
      response,
      batches,
      expiresAt,
      subscription: null,
      written: false,
      stalled: false,
      stalledTicks: 0,
    };
    return stream;
  }

  #subscribe({ runId, lastSeq, audience, modes, bufferMs }: StreamWish, sink: Sink): Subscription {
    const form = bufferMs === 0 ? 'frames' : 'documents';
    const { feed, snapshots } = this.#world;
    if (modes.has('values')) return snapshots.subscribe({ runId, fresh: lastSeq !== null, form }, sink);
    return feed.subscribe({ runId, after: lastSeq ?? -1, audience, lens: lensOf(modes, form) }, sink);
  }

  #sinkOf(stream: Stream, what: string): Sink {
    const { response, batches } = stream;
    return {
      write: (chunk) => {
        if (chunk.isLast) return this.#sendLast(stream, chunk);
        if (batches === null) return this.#send(stream, chunk.text);
        // A batch goes out on a timer: by then the client may be full.
        return batches.add(chunk) && !stream.stalled;
      },
      end: (fault) => {
        if (fault === undefined) {
          if (!response.writableEnded) this.#finish(stream, batches?.take());
          return;
        }
        this.#world.report({ level: 'error', event: 'stream.read_failed', facts: { stream: what }, error: fault });
        // Cut, not ended: the client must not take this for the end of the run.
        response.destroy();
      },
    };
  }

  /** The head goes out with the first frames. */
  #send(stream: Stream, text: string): boolean {
    const { response, written } = stream;
    const more = written ? this.#chunks.write(response, text) : this.#chunks.writeFirst(response, text);
    stream.written = true;
    if (!more) stream.stalled = true;
    return more;
  }

  /** The end of the response goes out with the last frames. */
  #sendLast(stream: Stream, chunk: Chunk): boolean {
    const { batches } = stream;
    if (chunk.text !== '') batches?.hold(chunk);
    this.#finish(stream, batches === null ? chunk.text : batches.take());
    return false;
  }

  /** Ends every stream; clients come back with their last id when the host does. */
  close(): void {
    for (const stream of [...this.#open]) this.#end(stream);
  }

  #end(stream: Stream): void {
    const held = stream.batches?.take();
    this.#drop(stream);
    this.#finish(stream, held);
  }

  #finish(stream: Stream, text = ''): void {
    // Without a word so far the head is still here, and has to go out first.
    if (!stream.written) stream.response.flushHeaders();
    this.#chunks.end(stream.response, text);
  }

  #drop(stream: Stream): void {
    stream.subscription?.close();
    stream.batches?.take();
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #tick(): void {
    this.#cancelTick = this.#world.timers.after(KEEPALIVE_MS, () => this.#tick());
    const now = this.#world.now();
    for (const stream of [...this.#open]) {
      // Who comes back has to show a credential that is good.
      if (stream.expiresAt !== undefined && stream.expiresAt <= now) {
        this.#end(stream);
      } else if (!stream.stalled) {
        this.#send(stream, ':keepalive\n\n');
      } else {
        stream.stalledTicks += 1;
        if (stream.stalledTicks >= STALLED_TICKS) stream.response.destroy();
      }
    }
  }
}

/** A lens for modes that are decided row by row; readers of equal modes share what it shows. */
function lensOf(modes: ReadonlySet<StreamMode>, form: Form): Lens {
  if (form === 'frames' && modes.size === 1 && modes.has('debug')) return everything;
  return payloads(`${[...modes].sort().join()} ${form}`, (type) => shownAs(modes, type), form);
}
