/**
 * The port of what agents remember: entries are kept as versions, so that a run sees what was there when it began, whatever
 * others did meanwhile.
 */
import type { RunId } from '@cairn/protocol';

export interface RememberedEntry {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/**
 * What of a memory a run may see at one of its rows: all of it as of the run's start, and what the run itself did before
 * this row, except in the same turn.
 */
export interface Sight {
  readonly runId: RunId;
  readonly beforeSeq: number;
  readonly turn: string;
}

export interface RememberedQuery {
  readonly tenant: string;
  readonly memoryRef: string;
  /** What has expired by now is not given. */
  readonly now: number;
  readonly limit: number;
  /** Only those with this tag. */
  readonly tag?: string | undefined;
  /** Left out: the memory as it is. */
  readonly sight?: Sight | undefined;
}

/** Reading what is remembered; it is written by appending the rows. What is another tenant's looks empty. */
export interface Remembered {
  /** Newest first. */
  remembered(query: RememberedQuery): Promise<readonly RememberedEntry[]>;
  rememberedEntry(query: Omit<RememberedQuery, 'limit' | 'tag'>, id: string): Promise<RememberedEntry | null>;
  /** Those that hold words of the text, best first. The text is words, whatever is in it. */
  searchRemembered(query: RememberedQuery, text: string): Promise<readonly RememberedEntry[]>;
}
