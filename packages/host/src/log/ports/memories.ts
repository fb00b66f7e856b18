/**
 * Agent memories. An append that holds memory rows writes them; this port reads them. A store keeps every version, so a
 * run reads a memory as it was when the run began, whatever other runs wrote meanwhile.
 */
import type { RunId } from '@cairn/protocol';

/** Another tenant's memory is empty. */
export interface Memories {
  /** Newest first. */
  list(query: MemoryRecordQuery): Promise<readonly MemoryRecord[]>;
  get(query: Omit<MemoryRecordQuery, 'limit' | 'tag'>, id: string): Promise<MemoryRecord | null>;
  /** Entries that hold words of the text, best first. The text has no query syntax. */
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
  /** Entries that have expired by now are left out. */
  readonly now: number;
  readonly limit: number;
  /** Only entries with this tag. */
  readonly tag?: string | undefined;
  /** Default: the memory as it is now. */
  readonly asOf?: AsOf | undefined;
}

/**
 * What a run sees of a memory at one of its rows: the memory as of the run's start, what the run itself wrote before
 * this row, and what its child runs wrote that had ended before this row. Positions decide, so the answer never changes.
 */
export interface AsOf {
  readonly runId: RunId;
  /** A row that does not exist yet: up to the end. */
  readonly beforeSeq: number;
  /** The turn that reads, which does not see its own writes. Default: everything before the row. */
  readonly turn?: string | undefined;
}
