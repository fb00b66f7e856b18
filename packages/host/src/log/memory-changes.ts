/** Memories as a fold of the log: one row keeps an entry, another drops it. */
import type { PayloadOf, RunId } from '@cairn/protocol';
import type { Row } from './ports/rows.ts';

/** The types of both rows, which belong to the run that wrote them. */
export const KEPT = 'cairn.memory.kept';
export const DROPPED = 'cairn.memory.dropped';

interface Change {
  /** Orders all changes: the cursor of the row. */
  readonly cursor: number;
  readonly runId: RunId;
  readonly seq: number;
  readonly memoryRef: string;
  readonly memoryId: string;
  readonly turn: string;
}

/** The change that a row makes to a memory. Only the first row that keeps or drops an id counts. */
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

/** The memory changes of the given rows; almost all rows make none. */
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
  const { cursor, runId, seq, at } = row;
  if (row.type === DROPPED) {
    const { memoryRef, memoryId, turn }: PayloadOf<typeof DROPPED> = JSON.parse(row.payload);
    return { kind: 'dropped', cursor, runId, seq, memoryRef, memoryId, turn };
  }
  const payload: PayloadOf<typeof KEPT> = JSON.parse(row.payload);
  const { memoryRef, memoryId, turn, content, tags } = payload;
  const expiresAt = payload.expiresAt === undefined ? null : Date.parse(payload.expiresAt);
  return { kind: 'kept', cursor, runId, seq, memoryRef, memoryId, turn, at, content, tags, expiresAt };
}
