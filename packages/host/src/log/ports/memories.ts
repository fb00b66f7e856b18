/**
 * Agent memories. An append with memory rows writes them; this port reads them. A store keeps every version, so a run
 * reads a memory as of its own start, regardless of concurrent writes by other runs.
 */
import type { RunId } from '@cairn/protocol';

/** Another tenant's memory reads as empty. */
export interface Memories {
  /** Newest first. */
  list(query: MemoryRecordQuery): Promise<readonly MemoryRecord[]>;
  get(query: Omit<MemoryRecordQuery, 'limit' | 'tag'>, id: string): Promise<MemoryRecord | null>;
  /** Entries that contain words of the text, best match first. The text has no query syntax. */
  search(query: MemoryRecordQuery, text: string): Promise<readonly MemoryRecord[]>;
}

export interface MemoryRecord {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export interface MemoryRecordQuery {
  readonly tenant: string;
  readonly memoryRef: string;
  /** Excludes entries that have expired at this instant. */
  readonly now: number;
  readonly limit: number;
  /** Only entries with this tag. */
  readonly tag?: string | undefined;
  /** Default: the current state of the memory. */
  readonly asOf?: AsOf | undefined;
}

/**
 * A run's view of a memory at one of its rows. It holds the memory as of the run's start and the run's own earlier
 * writes. It also holds the writes of child runs that ended before the row. Positions decide, so the view is stable.
 */
export interface AsOf {
  readonly runId: RunId;
  /** If the row does not exist yet, the view extends to the end. */
  readonly beforeSeq: number;
  /** The reading turn, which does not see its own writes. Default: everything before the row. */
  readonly turn?: string | undefined;
}
