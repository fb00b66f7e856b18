/** What agents remember as a fold of the log: an entry is there because a row says so, and gone because another does. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { Row } from './ports/rows.ts';

/** A row that keeps an entry, and one that drops it. Both are rows of the run that did it. */
export const KEPT = 'cairn.memory.kept';
export const DROPPED = 'cairn.memory.dropped';

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
export type MemoryChange =
  | (Change & {
      readonly kind: 'kept';
      readonly at: number;
      readonly content: string;
      readonly tags: readonly string[];
      readonly expiresAt: number | null;
    })
  | (Change & { readonly kind: 'dropped' });

const nothing: readonly MemoryChange[] = [];

/** What rows do to memories; almost all do nothing. */
export function memoryChanges(rows: readonly Row[]): readonly MemoryChange[] {
  let changes: MemoryChange[] | null = null;
  for (const row of rows) {
    if (!isMemoryRow(row)) continue;
    changes ??= [];
    changes.push(changeOf(row));
  }
  return changes ?? nothing;
}

export const isMemoryRow = ({ type }: Pick<Row, 'type'>): boolean => type === KEPT || type === DROPPED;

function changeOf(row: Row): MemoryChange {
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
