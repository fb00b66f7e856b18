/** Where a subscriber's text goes, and the handle that its owner keeps. */

/** Text for one sink, in order and without gaps. */
export interface Chunk {
  /** Empty only in the last chunk. */
  readonly text: string;
  /** Position of the newest event in the text: seq in a run, cursor in a context; -1 for a text without events. */
  readonly upTo: number;
  /** A client waits for something in it: no batch may hold it back. */
  readonly urgent: boolean;
  /** The range is over; `end` follows at once. */
  readonly isLast: boolean;
}

export interface Sink {
  /** Takes a chunk; false when the sink is full and wants no more until `resume` is called. */
  write(chunk: Chunk): boolean;
  /** Nothing more follows: the range is over, or (with a fault) the log could not be read. */
  end(fault?: unknown): void;
}

export interface Subscription {
  /** The sink has drained and takes more. */
  resume(): void;
  /** Stops without calling `end`. */
  close(): void;
}
