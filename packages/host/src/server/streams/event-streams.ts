/** Open SSE responses: sends keepalives, cuts clients that stopped reading, ends all of them when the host stops. */
import type { ServerResponse } from 'node:http';
import type { StreamMode } from '@cairn/protocol';
import type { Report, Timers } from '../../engine/ports.ts';
import type { FairTurns } from '../../fair-turns.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Chunk, ChunkText, Sink, Subscription } from '../../log/feed/sink.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { PassingSet } from '../../passing-map.ts';
import type { UnreadBytes } from '../http/unread-bytes.ts';
import { Batches } from './batches.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { LongText } from './long-text.ts';
import type { Served, Stream } from './open-stream.ts';
import type { SnapshotFeed } from './snapshot-feed.ts';
import { formOf, lensOf } from './stream-lens.ts';

/** Between two keepalives; the wire asks for one at least every 30 s, the task view for one every 15 s. */
export const KEEPALIVE_MS = 15_000;

/** A client that took nothing for this many keepalives in a row is gone: after 60 to 75 s. */
const STALLED_TICKS = 5;

/** What a keepalive costs of a turn of the event loop, in characters: 128 writes take 2 ms. */
const KEEPALIVE_COST = 2_048;

export interface StreamPorts {
  readonly feed: LiveFeed;
  readonly snapshots: SnapshotFeed;
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
  readonly unread: UnreadBytes;
  /** Long texts are written in turns with other work, tenant by tenant. */
  readonly turns: FairTurns;
}

/** What a client asks for. */
export interface StreamRequest {
  readonly tenant: string;
  /** The run, as it was read for this request. */
  readonly record: Pick<RunRecord, 'runId' | 'contextId' | 'tenant' | 'endedAt'>;
  /** seq of the last event it has; null when it begins. */
  readonly lastSeq: number | null;
  readonly audience: 'client' | undefined;
  readonly modes: ReadonlySet<StreamMode>;
  /** How long events may wait to go out together; 0 sends each as it comes. */
  readonly bufferMs: number;
  /** When the client's credential expires; undefined when it does not. */
  readonly expiresAt: number | undefined;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies of the nginx family would otherwise hold frames back.
  'x-accel-buffering': 'no',
};

export class EventStreams {
  readonly #open = new PassingSet<Stream>();
  readonly #ports: StreamPorts;
  readonly #chunks = new ChunkWriter();
  #cancelTick: (() => void) | null = null;

  constructor(ports: StreamPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Writes the events of a run to the response until the terminal one. */
  serve(response: ServerResponse, request: StreamRequest): void {
    const { tenant, record, bufferMs, expiresAt } = request;
    this.serveFrom(response, { tenant, bufferMs, expiresAt, what: record.runId }, (sink) =>
      this.#subscribe(request, sink),
    );
  }

  /** Writes what a feed gives until it ends. Keepalives, stalls and the stop of the host work as for runs. */
  serveFrom(response: ServerResponse, served: Served, subscribe: (sink: Sink) => Subscription): void {
    const stream = this.#opened(response, served);
    this.#open.add(stream);
    this.#cancelTick ??= this.#ports.timers.after(KEEPALIVE_MS, () => this.#tick());
    response.on('close', () => this.#drop(stream));
    response.on('drain', () => {
      stream.stalledTicks = 0;
      this.#ports.unread.read(stream.tenant, response);
      if (stream.long === null) this.#resume(stream);
      else stream.long.resume();
    });
    this.#chunks.begin(response, HEADERS);
    this.#tellConnected(stream);
    stream.subscription = subscribe(this.#sinkOf(stream, served.what));
    if (response.destroyed) this.#drop(stream);
  }

  /** A client must learn that it is connected although nothing happens. When something does, one write carries head and events. */
  #tellConnected(stream: Stream): void {
    const { response } = stream;
    const tell = () => {
      if (!response.headersSent || stream.written || response.destroyed) return;
      response.flushHeaders();
    };
    // First events may be held back for one span; the head alone goes out after the second.
    const { feed, timers } = this.#ports;
    const ms = feed.pace.holdMs() * 2;
    if (ms === 0) setImmediate(tell);
    else timers.after(ms, tell);
  }

  #opened(response: ServerResponse, served: Served): Stream {
    const { tenant, bufferMs = 0, expiresAt, alive = () => '', farewell = '', reproach = '' } = served;
    const send = (frame: ChunkText) => this.#send(stream, frame);
    const batches = bufferMs === 0 ? null : new Batches({ ms: bufferMs, timers: this.#ports.timers, send });
    const stream: Stream = {
      ...{ tenant, response, batches, expiresAt, alive, farewell, reproach },
      subscription: null,
      long: null,
      written: false,
      stalled: false,
      stalledTicks: 0,
    };
    return stream;
  }

  #subscribe({ record, lastSeq, audience, modes, bufferMs }: StreamRequest, sink: Sink): Subscription {
    const { runId } = record;
    const form = formOf(bufferMs);
    const { feed, snapshots } = this.#ports;
    if (modes.has('values')) return snapshots.subscribe({ runId, fresh: lastSeq !== null, form }, sink);
    return feed.subscribe({ runId, after: lastSeq ?? -1, audience, lens: lensOf(modes, form), record }, sink);
  }

  #sinkOf(stream: Stream, what: string): Sink {
    const { response, batches } = stream;
    return {
      write: (chunk) => {
        if (chunk.isLast) return this.#sendLast(stream, chunk);
        if (batches === null) return this.#send(stream, chunk);
        // A batch goes out on a timer: by then the client may be full.
        return batches.add(chunk) && !stream.stalled;
      },
      end: (fault) => {
        if (fault === undefined) {
          if (!response.writableEnded && stream.long === null) this.#sendEnd(stream, batches?.take());
          return;
        }
        this.#ports.report({ level: 'error', event: 'stream.read_failed', facts: { stream: what }, error: fault });
        // Cut, not ended: the client must not take this for the end of the run.
        response.destroy();
      },
    };
  }

  /** The head goes out with the first frames. */
  #send(stream: Stream, chunk: ChunkText): boolean {
    const { rest } = chunk;
    const hasRoom = this.#write(stream, chunk);
    if (rest !== undefined) {
      this.#sendRest(stream, rest, (isReady) => (isReady ? this.#resume(stream) : this.#stall(stream)));
      return false;
    }
    if (!hasRoom) this.#stall(stream);
    return hasRoom;
  }

  #write(stream: Stream, chunk: ChunkText): boolean {
    const { response, written } = stream;
    stream.written = true;
    return written ? this.#chunks.write(response, chunk) : this.#chunks.writeFirst(response, chunk.text);
  }

  /** The stream takes nothing more until the rest is out. */
  #sendRest(stream: Stream, rest: readonly string[], then: (hasRoom: boolean) => void): void {
    stream.stalled = true;
    stream.long = new LongText(rest, {
      turns: this.#ports.turns,
      owner: stream.tenant,
      write: (text) => this.#write(stream, { text }),
      stalled: () => this.#stall(stream),
      done: (hasRoom) => {
        stream.long = null;
        then(hasRoom);
      },
    });
    stream.long.resume();
  }

  #resume(stream: Stream): void {
    stream.stalled = false;
    stream.subscription?.resume();
  }

  /** Only now are its bytes counted: a stream whose client reads costs nothing more. */
  #stall(stream: Stream): void {
    stream.stalled = true;
    const bytes = stream.response.writableLength + (stream.long?.waiting ?? 0);
    this.#ports.unread.wait(stream.tenant, stream.response, { bytes });
  }

  /** The end of the response goes out with the last frames. */
  #sendLast(stream: Stream, chunk: Chunk): boolean {
    const { batches } = stream;
    if (chunk.text !== '') batches?.hold(chunk);
    this.#sendEnd(stream, batches === null ? chunk : batches.take());
    return false;
  }

  #sendEnd(stream: Stream, chunk: ChunkText | null | undefined): void {
    const { text, rest } = chunk ?? { text: '' };
    if (rest === undefined) this.#finish(stream, text);
    else {
      this.#write(stream, { text });
      this.#sendRest(stream, rest, () => this.#finish(stream));
    }
  }

  /** Ends every stream; clients come back with their last id when the host does. */
  close(): void {
    for (const stream of [...this.#open]) this.#end(stream);
  }

  #end(stream: Stream): void {
    const held = stream.batches?.take();
    this.#drop(stream);
    this.#finish(stream, (held?.text ?? '') + stream.farewell);
  }

  #finish(stream: Stream, text = ''): void {
    const { response, written } = stream;
    if (written) this.#chunks.end(response, text);
    else this.#chunks.writeWhole(response, text);
    // A client that does not read the end is cut like any other.
    if (stream.response.writableLength > 0) this.#stall(stream);
  }

  #drop(stream: Stream): void {
    stream.subscription?.close();
    stream.long?.close();
    stream.batches?.take();
    this.#ports.unread.read(stream.tenant, stream.response);
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #tick(): void {
    this.#cancelTick = this.#ports.timers.after(KEEPALIVE_MS, () => this.#tick());
    const { turns } = this.#ports;
    for (const stream of [...this.#open]) {
      void turns.take(stream.tenant, () => {
        turns.charge(KEEPALIVE_COST);
        if (this.#open.has(stream)) this.#keepAlive(stream);
      });
    }
  }

  #keepAlive(stream: Stream): void {
    // The client has to come back with a valid credential.
    if (stream.expiresAt !== undefined && stream.expiresAt <= this.#ports.now()) {
      this.#end(stream);
    } else if (!stream.stalled && !stream.response.writableEnded) {
      this.#send(stream, { text: `:keepalive\n${stream.alive(stream.subscription)}\n` });
    } else {
      stream.stalledTicks += 1;
      if (stream.stalledTicks >= STALLED_TICKS) this.#cut(stream);
    }
  }

  /** A client that wakes before the next keepalive reads why the stream ended, and everything before that. */
  #cut(stream: Stream): void {
    const { response, reproach, subscription } = stream;
    if (reproach === '' || response.writableEnded || stream.long !== null) {
      response.destroy();
      return;
    }
    subscription?.close();
    this.#finish(stream, reproach);
  }
}
