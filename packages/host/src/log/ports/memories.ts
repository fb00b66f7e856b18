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
 * What of a memory a run may see at one of its rows: all of it as of the run's start, what the run itself did before this
 * row, and what runs below it did that had ended before this row. Positions decide, so it is the same whenever it is asked.
 */
export interface Sight {
  readonly runId: RunId;
  /** A row that is not there yet: up to the end. */
  readonly beforeSeq: number;
  /** The turn that looks, which does not see what it did itself. Left out: all that lies before the row. */
  readonly turn?: string | undefined;
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
