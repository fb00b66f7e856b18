/** Where a subscriber's text goes, and the handle that its owner keeps. */

/** A text for one sink. */
export interface ChunkText {
  /** Empty only in the last chunk. */
  readonly text: string;
  /** Set on a text that many sinks get. The first to encode it leaves the bytes here for the others. */
  readonly shared?: { bytes: Uint8Array | null };
  /** What follows it, in parts, if the whole is too large to be written in one turn of the event loop. */
  readonly rest?: readonly string[];
}

/** Text for one sink, in order and without gaps. */
export interface Chunk extends ChunkText {
  /** Position of the newest event in the text: seq in a run, cursor in a context; -1 for a text without events. */
  readonly upTo: number;
  /** A client waits for something in it: no batch may hold it back. */
  readonly urgent: boolean;
  /** The range is over; `end` follows at once. */
  readonly isLast: boolean;
}

/** Characters that are written at once. */
const MAX_TEXT = 262_144;

/** One text of the parts while they are small. Joining more would be one long copy. */
export function chunkText(parts: readonly string[]): ChunkText {
  let size = 0;
  for (const part of parts) size += part.length;
  const [text = '', ...rest] = parts;
  return size <= MAX_TEXT ? { text: parts.join('') } : { text, rest };
}

export interface Sink {
  /** Takes a chunk; false when the sink is full and takes no more until `resume` is called. */
  write(chunk: Chunk): boolean;
  /** Nothing more follows: the range is over, or (with a fault) the log could not be read. */
  end(fault?: unknown): void;
  /** Everything up to this position was written or passed over; what follows is live. */
  level?(position: number): void;
}

export interface Subscription {
  /** The last position that was written or passed over; null before the first. */
  readonly position?: number | null;
  /** The sink has drained and takes more. */
  resume(): void;
  /** Stops without calling `end`. */
  close(): void;
}
