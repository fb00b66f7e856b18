/** The migrations that give faces their columns and contexts their index, to older rows too. */
import type { DatabaseSync } from 'node:sqlite';
import type { Audience } from '@cairn/protocol';
import { faceColumns } from '../../tasks/face-columns.ts';
import { ContextSegments } from '../contexts/segments.ts';
import { query } from '../query.ts';
import { changeInSteps } from './change-in-steps.ts';
import type { Migration, RowProgress } from './migration.ts';

/**
 * From `cursor` on, until its next segment, a context goes on with the rows of `run` from `seq` on. A context of one run
 * has one segment, however long the run is: most appends write none.
 */
export const contextIndex: Migration = {
  name: 'columns of task faces, and an index of contexts',
  sql: `
    ALTER TABLE events ADD COLUMN face INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE context_segments (
      context TEXT NOT NULL,
      cursor INTEGER NOT NULL,
      run INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (context, cursor)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX context_segments_by_run ON context_segments (run);
    CREATE INDEX runs_forked ON runs (context) WHERE fork_seq IS NOT NULL;
  `,
};

export const indexOlderRows: Migration = {
  name: 'task faces and contexts of older rows',
  changeRows: (db, onProgress) => indexRows(db, { stepRows: STEP_ROWS, onProgress }),
  sql: "DELETE FROM marks WHERE reader = 'cairn.context-index';",
};

export const contextRuns: Migration = {
  name: 'open runs and questions of contexts',
  sql: `
    CREATE INDEX runs_open_in_context ON runs (context) WHERE ended_at IS NULL AND imported_at IS NULL;
    CREATE INDEX interrupts_by_id ON interrupts (id);
  `,
};

/** One transaction: about 50 ms. */
const STEP_ROWS = 5_000;

interface IndexOptions {
  readonly stepRows: number;
  readonly onProgress: (progress: RowProgress) => void;
}

type Found = [
  cursor: number,
  run: number,
  seq: number,
  audience: number,
  task: string | null,
  context: string,
  parent: string | null,
];

export function indexRows(db: DatabaseSync, { stepRows, onProgress }: IndexOptions): void {
  const following = query<Found>(
    db,
    `SELECT cursor, run, seq, audience, task, runs.context, runs.parent FROM events
       CROSS JOIN runs ON runs.key = events.run WHERE cursor > ? ORDER BY cursor LIMIT ?`,
  );
  const write = db.prepare('UPDATE events SET face = ? WHERE cursor = ?');
  const segments = new ContextSegments(db);
  const step = (after: number) => {
    let place = after;
    const found = following.all(place, stepRows);
    for (const [cursor, run, seq, audience, task, context, parent] of found) {
      segments.note(context, run, { cursor, seq });
      const face = faceColumns(task, { audience: audienceOf(audience), isSubtask: parent !== null });
      if (face !== 0) write.run(face, cursor);
      place = cursor;
    }
    return { place, rows: found.length, isLast: found.length < stepRows };
  };
  changeInSteps(db, { reader: 'cairn.context-index', table: 'events', first: 0, step, onProgress });
}

const audienceOf = (column: number): Audience => (column === 0 ? 'client' : 'operator');
