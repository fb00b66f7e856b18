/**
 * What agents remember, as a fold of the log: an entry is there because a row says so, and gone because another does.
 * Entries are kept as versions, so that a run sees what was there when it began, whatever others did meanwhile.
 */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { Row } from './port.ts';

/** A row that keeps an entry, and one that drops it. Both are rows of the run that did it. */
export const KEPT = 'cairn.memory.kept';
export const DROPPED = 'cairn.memory.dropped';

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

interface Change {
  /** Its place among all changes: that of its row. */
  readonly cursor: number;
  readonly runId: RunId;
  readonly seq: number;
  readonly memoryRef: string;
  readonly memoryId: string;
  readonly turn: string;
}

/** What a row does to a memory. The first row that keeps an id counts, and the first that drops it: a repeated one changes nothing. */
export type RememberedChange =
  | (Change & {
      readonly kind: 'kept';
      readonly at: number;
      readonly content: string;
      readonly tags: readonly string[];
      readonly expiresAt: number | null;
    })
  | (Change & { readonly kind: 'dropped' });

const nothing: readonly RememberedChange[] = [];

/** What rows do to memories; almost all do nothing. */
export function rememberedChanges(rows: readonly Row[]): readonly RememberedChange[] {
  let changes: RememberedChange[] | null = null;
  for (const row of rows) {
    if (!isOfMemory(row)) continue;
    changes ??= [];
    changes.push(changeOf(row));
  }
  return changes ?? nothing;
}

export const isOfMemory = ({ type }: Pick<Row, 'type'>): boolean => type === KEPT || type === DROPPED;

function changeOf(row: Row): RememberedChange {
  const payload = JSON.parse(row.payload) as JsonObject;
  const { cursor, runId, seq, at } = row;
  const change = {
    cursor,
    runId,
    seq,
    memoryRef: payload.memoryRef as string,
    memoryId: payload.memoryId as string,
    turn: payload.turn as string,
  };
  if (row.type === DROPPED) return { kind: 'dropped', ...change };
  return {
    kind: 'kept',
    ...change,
    at,
    content: payload.content as string,
    tags: payload.tags as readonly string[],
    expiresAt: payload.expiresAt === undefined ? null : Date.parse(payload.expiresAt as string),
  };
}
