/** Finds what a fork begins with: the index of its source at the cut, folded from the nearest checkpoint. */
import type { DatabaseSync } from 'node:sqlite';
import { foldRunIndex, type IndexedRun, indexedTypes, newRunIndex } from '../../fold-run-index.ts';
import type { IndexAt } from '../../index-checkpoint.ts';
import type { RunRecord } from '../../ports/run-index.ts';
import { type EventColumns, FRAME_COLUMNS } from '../columns.ts';
import { type Query, query } from '../query.ts';
import { rowReader, type ToRow } from '../values/read-rows.ts';
import { storedValues } from '../values/shared-values.ts';
import type { IndexCheckpoints } from './index-checkpoints.ts';
import { before, type Stretches } from './stretches.ts';

/** Rows passed in one turn of the event loop, and characters of payloads. Only those that the index shows are loaded. */
const ROWS_PER_TURN = 4_000;
const CHARS_PER_TURN = 262_144;

/** A fold on its way to the cut. */
export interface CutSearch {
  readonly record: RunRecord;
  readonly shared: Stretches;
  /** The index after the row at `seq`. */
  readonly at: IndexAt;
  /** Characters that the last step read. */
  readonly chars: number;
}

export class CutFinder {
  readonly #rows: Query<EventColumns>;
  readonly #rowOf: ToRow;
  readonly #checkpoints: IndexCheckpoints;

  constructor(db: DatabaseSync, checkpoints: IndexCheckpoints) {
    this.#checkpoints = checkpoints;
    const types = indexedTypes.map((type) => `'${type}'`).join();
    this.#rows = query(
      db,
      `SELECT ${FRAME_COLUMNS} FROM events WHERE run = ? AND seq > ? AND seq < ? AND type IN (${types}) ORDER BY seq`,
    );
    this.#rowOf = rowReader(storedValues(db));
  }

  begin(record: RunRecord, stretches: Stretches, fromSeq: number): CutSearch {
    const shared = before(stretches, fromSeq);
    const start: IndexAt = { seq: -1, index: newRunIndex(record.runId, { ...record, parentRunId: undefined }, 0) };
    return { record, shared, at: this.#checkpoints.newest(shared) ?? start, chars: 0 };
  }

  /** Folds the next rows; the cut is reached when `seq` is that of the last shared row. */
  step({ record, shared, at }: CutSearch): CutSearch {
    const end = Math.min(at.seq + 1 + ROWS_PER_TURN, shared.at(-1)?.through ?? 0);
    let index: IndexedRun = at.index;
    let chars = 0;
    const payloadOf = (columns: EventColumns): string => {
      const { payload } = this.#rowOf(record.runId, record.contextId, columns);
      chars += payload.length;
      return payload;
    };
    for (const { owner, from, through } of shared) {
      if (through <= at.seq + 1 || from >= end) continue;
      for (const columns of this.#rows.iterate(owner, at.seq, Math.min(through, end))) {
        const [seq, , writtenAt, type, nodeId] = columns;
        const row = {
          ...{ at: writtenAt, type, nodeId: nodeId ?? undefined },
          // Most types change the index without their payload, which may be large.
          get payload() {
            return payloadOf(columns);
          },
        };
        index = foldRunIndex(index, row, seq);
        if (chars >= CHARS_PER_TURN) return { record, shared, at: { seq, index }, chars };
      }
    }
    return { record, shared, at: { seq: end - 1, index }, chars };
  }
}

export const isAtCut = ({ shared, at }: CutSearch): boolean => at.seq + 1 >= (shared.at(-1)?.through ?? 0);
