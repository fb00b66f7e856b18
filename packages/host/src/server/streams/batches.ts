/** Holds events back for a while and sends them as one frame, for clients that asked for it with `bufferMs`. */
import { streamTypes } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import { type Chunk, type ChunkText, chunkText } from '../../log/feed/sink.ts';

/** Characters that one stream may hold back; a larger batch goes out before its time. */
const MAX_HELD = 262_144;

export interface BatchOptions {
  /** How long the first event of a batch may wait. */
  readonly ms: number;
  readonly timers: Timers;
  /** Sends a frame; false when the client is full. */
  readonly send: (frame: ChunkText) => boolean;
}

/** Event documents with commas between them. */
type Documents = Omit<Chunk, 'isLast'>;

export class Batches {
  readonly #options: BatchOptions;
  #documents: string[] = [];
  #size = 0;
  #upTo = -1;
  #cancel: (() => void) | null = null;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Adds documents; false when the client is full. Urgent documents send the whole batch at once. */
  add(chunk: Documents): boolean {
    this.hold(chunk);
    if (chunk.urgent || this.#size >= MAX_HELD) return this.#flush();
    this.#cancel ??= this.#options.timers.after(this.#options.ms, () => {
      this.#cancel = null;
      this.#flush();
    });
    return true;
  }

  /** Adds documents that go out with the next `take`. */
  hold({ text, rest = [], upTo }: Omit<Documents, 'urgent'>): void {
    if (this.#documents.length > 0) this.#documents.push(',');
    this.#documents.push(text, ...rest);
    this.#size += text.length;
    this.#upTo = upTo;
  }

  #flush(): boolean {
    const frame = this.take();
    return frame === null || this.#options.send(frame);
  }

  /** The frame of the batch, for the caller to send; null when nothing is held. */
  take(): ChunkText | null {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#documents.length === 0) return null;
    const head = `id: ${this.#upTo}\nevent: ${streamTypes.batch}\ndata: [`;
    const frame = chunkText([head, ...this.#documents, ']\n\n']);
    this.#documents = [];
    this.#size = 0;
    return frame;
  }
}
