/**
 * Memory that the event loop shares with the thread that watches it. The event loop says in it which decision it is
 * at, which costs no system call.
 */

/** The decision in progress fills the front of the crash record. */
export const FRONT_BYTES = 2_048;

/** Changes with each decision and at the end of a turn. Odd while a decision is in progress. */
const COUNT = 0;
const LENGTH = 1;
/** 1 while the thread sleeps until the count changes. */
const ASLEEP = 2;
const STOPPED = 3;
/** 1 once the thread looks. */
const WATCHED = 4;
const HEADER_BYTES = 32;

export class DecisionMemory {
  readonly shared: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #front: Buffer;

  constructor(shared = new SharedArrayBuffer(HEADER_BYTES + FRONT_BYTES)) {
    this.shared = shared;
    this.#header = new Int32Array(shared, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#front = Buffer.from(shared, HEADER_BYTES);
  }

  /** A decision begins. */
  begin(text: string): void {
    // Even while the text changes: the thread takes no text whose count changed.
    this.end();
    this.#header[LENGTH] = this.#front.write(text);
    this.#count(1);
  }

  /** No decision is in progress. */
  end(): void {
    this.#count(0);
  }

  stop(): void {
    Atomics.store(this.#header, STOPPED, 1);
    this.#count(0);
    Atomics.notify(this.#header, COUNT);
  }

  get isWatched(): boolean {
    return Atomics.load(this.#header, WATCHED) === 1;
  }

  watched(): void {
    Atomics.store(this.#header, WATCHED, 1);
  }

  get isStopped(): boolean {
    return Atomics.load(this.#header, STOPPED) === 1;
  }

  get count(): number {
    return Atomics.load(this.#header, COUNT);
  }

  /** The decision with this count, or null if it is over. */
  textOf(count: number): Buffer | null {
    const text = Buffer.from(this.#front.subarray(0, this.#header[LENGTH]));
    return isInProgress(count) && this.count === count ? text : null;
  }

  /** Blocks the calling thread for `ms`, or, if the count is still this one and nothing is in progress, until it is not. */
  sleep(count: number, ms: number): void {
    if (isInProgress(count) || this.isStopped) {
      Atomics.wait(this.#header, STOPPED, 0, ms);
      return;
    }
    Atomics.store(this.#header, ASLEEP, 1);
    Atomics.wait(this.#header, COUNT, count);
    Atomics.store(this.#header, ASLEEP, 0);
    Atomics.wait(this.#header, STOPPED, 0, ms);
  }

  #count(lowestBit: 0 | 1): void {
    const count = Atomics.load(this.#header, COUNT);
    if (lowestBit === 0 && !isInProgress(count)) return;
    Atomics.store(this.#header, COUNT, count + 1);
    if (Atomics.load(this.#header, ASLEEP) === 1) Atomics.notify(this.#header, COUNT);
  }
}

const isInProgress = (count: number): boolean => (count & 1) === 1;
