/** Holds events back for a while and sends them as one frame, for clients that asked for it with `bufferMs`. */
import { streamTypes } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { Chunk } from '../../log/feed/sink.ts';

/** Characters after which a batch goes out before its time: what one stream may hold back. */
const MAX_HELD = 262_144;

export interface BatchOptions {
  /** How long the first event of a batch may wait. */
  readonly ms: number;
  readonly timers: Timers;
  /** Sends a frame; false when no more is wanted for now. */
  readonly send: (frame: string) => boolean;
}

/** Event documents with commas between them. */
type Documents = Pick<Chunk, 'text' | 'upTo' | 'urgent'>;

export class Batches {
  readonly #options: BatchOptions;
  #documents = '';
  #upTo = -1;
  #cancel: (() => void) | null = null;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Takes documents, with commas between; gives whether more is wanted. Urgent ones take all that waits with them. */
  add(chunk: Documents): boolean {
    this.hold(chunk);
    if (chunk.urgent || this.#documents.length >= MAX_HELD) return this.#flush();
    this.#cancel ??= this.#options.timers.after(this.#options.ms, () => {
      this.#cancel = null;
      this.#flush();
    });
    return true;
  }

  /** Takes documents that go out with the next `take`. */
  hold({ text, upTo }: Omit<Documents, 'urgent'>): void {
    this.#documents += this.#documents === '' ? text : `,${text}`;
    this.#upTo = upTo;
  }

  #flush(): boolean {
    const frame = this.take();
    return frame === '' || this.#options.send(frame);
  }

  /** The frame of what waits, for who sends it himself; empty when nothing does. */
  take(): string {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#documents === '') return '';
    const frame = `id: ${this.#upTo}\nevent: ${streamTypes.batch}\ndata: [${this.#documents}]\n\n`;
    this.#documents = '';
    return frame;
  }
}
