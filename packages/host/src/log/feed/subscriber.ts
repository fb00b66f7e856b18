/**
 * The subscriber that every live stream and long poll shares. It catches up from the log until it is level, then goes on
 * with what memory holds; it stops while its sink is full and ends once. What it follows is its source's.
 */
import type { Chunk, Sink, Subscription } from './sink.ts';

/** What one subscriber follows, and its place in it. */
export interface Source {
  /** The last position that was given or passed over. */
  readonly after?: number;
  /** Memory does not reach back to the place: the log has to be read first. */
  readonly isBehind: boolean;
  /** Each of its chunks takes milliseconds. */
  readonly isSlow?: boolean;
  /** What memory holds after the place, and moves the place past it; null when there is nothing yet. Not called while behind. */
  next(): Chunk | null;
  /** Reads one page after the place and moves the place past it; null when the page shows nothing. Called only while behind. */
  page(): Promise<Chunk | null>;
}

/** Of one turn, and of a turn for a source that is slow. A client that reads fast would otherwise take all that memory holds. */
const MAX_CHUNKS = 4;
const MAX_SLOW_CHUNKS = 1;

export class Subscriber<Followed extends Source = Source> implements Subscription {
  readonly #sink: Sink;
  /** Set by `begin`. */
  source: Followed | null = null;
  #isStalled = false;
  #isReading = false;
  /** The sink knows that it is level. */
  #isLevel = false;
  /** A turn will come, and brings all that there is by then. */
  #isWoken = false;
  isClosed = false;
  onClose: (() => void) | null = null;
  /** Gives it its turn, now or later. Who shares the event loop with many others sets it. */
  inTurn: (pump: () => void) => void = (pump) => pump();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Gives it what to follow; the first `pump` writes. */
  begin(source: Followed): void {
    this.source = source;
  }

  /** Writes what there is, in its turn. Called after each change of the source. */
  pump(): void {
    if (this.#isWoken || this.#isReading || this.#isStalled || this.source === null) return;
    this.#isWoken = true;
    this.inTurn(() => {
      this.#isWoken = false;
      this.#writeAll();
    });
  }

  #writeAll(): void {
    const { source } = this;
    if (source === null || this.#isReading) return;
    const most = source.isSlow === true ? MAX_SLOW_CHUNKS : MAX_CHUNKS;
    for (let chunks = 0; !this.isClosed && !this.#isStalled; chunks += 1) {
      if (chunks === most) {
        queueMicrotask(() => this.pump());
        return;
      }
      if (source.isBehind) {
        this.#isReading = true;
        this.#isLevel = false;
        void this.#catchUp(source);
        return;
      }
      const chunk = source.next();
      if (chunk === null) {
        this.#tellLevel(source);
        return;
      }
      this.#write(chunk);
    }
  }

  get position(): number | null {
    return this.source?.after ?? null;
  }

  #tellLevel({ after }: Followed): void {
    if (this.#isLevel || after === undefined) return;
    this.#isLevel = true;
    this.#sink.level?.(after);
  }

  resume(): void {
    this.#isStalled = false;
    this.pump();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose?.();
  }

  /** Closes and tells the sink. */
  finish(fault?: unknown): void {
    if (this.isClosed) return;
    this.close();
    this.#sink.end(fault);
  }

  async #catchUp(source: Followed): Promise<void> {
    try {
      while (source.isBehind && !this.isClosed && !this.#isStalled) {
        const chunk = await source.page();
        if (chunk !== null && !this.isClosed) this.#write(chunk);
      }
    } catch (fault) {
      this.finish(fault);
    } finally {
      this.#isReading = false;
    }
    this.pump();
  }

  #write(chunk: Chunk): void {
    const { text, isLast } = chunk;
    if ((isLast || text !== '') && !this.#sink.write(chunk)) this.#isStalled = true;
    if (isLast) this.finish();
  }
}
