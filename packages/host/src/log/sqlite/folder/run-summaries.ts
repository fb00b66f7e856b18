/** The migrations that give runs their summary in lists, and questions their words, to older runs too. */
import type { DatabaseSync } from 'node:sqlite';
import { contextId, type RunId } from '@cairn/protocol';
import { foldRunIndex, type IndexedRun, indexedTypes, newRunIndex } from '../../fold-run-index.ts';
import { EVENT_COLUMNS, type EventColumns, summaryText } from '../columns.ts';
import { SharedRows, type Stretches } from '../forks/stretches.ts';
import { defineMarks, FROZEN_COLUMNS, FROZEN_UNTITLED_COLUMNS } from '../marks.ts';
import { query } from '../query.ts';
import { rowReader } from '../values/read-rows.ts';
import { storedValues } from '../values/shared-values.ts';
import { changeInSteps } from './change-in-steps.ts';
import type { Migration, RowProgress } from './migration.ts';

export const runSummaries: Migration = {
  name: 'what runs are about and what they used',
  sql: `
    ALTER TABLE runs ADD COLUMN summary TEXT NOT NULL DEFAULT '';
    ALTER TABLE interrupts ADD COLUMN title TEXT NOT NULL DEFAULT '';
  `,
};

export const summariseOlderRuns: Migration = {
  name: 'summaries of older runs',
  changeRows: (db, onProgress) => {
    markFrozen(db);
    summariseRuns(db, { stepRuns: STEP_RUNS, onProgress });
  },
  sql: "DELETE FROM marks WHERE reader = 'cairn.run-summaries';",
};

/** Summaries named the agents that a run could ask; now they name those that worked. */
export const agentsOfOlderRuns: Migration = {
  name: 'the agents that worked in older runs',
  changeRows: (db, onProgress) => summariseRuns(db, { stepRuns: STEP_RUNS, onProgress }),
  sql: "DELETE FROM marks WHERE reader = 'cairn.run-summaries';",
};

/** One transaction. A run may have many rows, but only those that an index shows are loaded. */
const STEP_RUNS = 200;

interface SummariseOptions {
  readonly stepRuns: number;
  readonly onProgress: (progress: RowProgress) => void;
}

/** The index of a fork whose first events are gone stays as it is; only its mark covers the new columns. */
function markFrozen(db: DatabaseSync): void {
  defineMarks(db);
  // A mark that was wrong before stays wrong.
  db.exec(`UPDATE runs SET frozen = mark_of(${FROZEN_COLUMNS})
    WHERE frozen IS NOT NULL AND frozen IS mark_of(${FROZEN_UNTITLED_COLUMNS})`);
}

type Found = [key: number, runId: RunId, fromSeq: number | null, isFrozen: number];

function summariseRuns(db: DatabaseSync, { stepRuns, onProgress }: SummariseOptions): void {
  const following = query<Found>(
    db,
    'SELECT key, id, fork_seq, frozen IS NOT NULL FROM runs WHERE key > ? ORDER BY key LIMIT ?',
  );
  const summarise = summariser(db);
  const step = (after: number) => {
    const found = following.all(after, stepRuns);
    for (const run of found) summarise(run);
    return { place: found.at(-1)?.[0] ?? after, rows: found.length, isLast: found.length < stepRuns };
  };
  changeInSteps(db, { reader: 'cairn.run-summaries', table: 'runs', first: 0, step, onProgress });
}

function summariser(db: DatabaseSync): (run: Found) => void {
  const types = indexedTypes.map((type) => `'${type}'`).join();
  const events = query<EventColumns>(
    db,
    `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND seq >= ? AND seq < ? AND type IN (${types}) ORDER BY seq`,
  );
  const rowOf = rowReader(storedValues(db));
  const shared = new SharedRows(db);
  const saveRun = db.prepare('UPDATE runs SET summary = ? WHERE key = ?');
  const saveQuestion = db.prepare('UPDATE interrupts SET title = ? WHERE run = ? AND id = ?');
  const nowhere = contextId('');
  const fold = (runId: RunId, stretches: Stretches, onAsked: (index: IndexedRun) => void): IndexedRun => {
    let index = newRunIndex(runId, { tenant: '', contextId: nowhere, originRunId: runId }, 0);
    for (const { owner, from, through } of stretches) {
      for (const columns of events.iterate(owner, from, through)) {
        const row = rowOf(runId, nowhere, columns);
        index = foldRunIndex(index, { ...row, nodeId: row.nodeId ?? undefined }, row.seq);
        if (row.type === 'interrupt.requested') onAsked(index);
      }
    }
    return index;
  };
  return ([key, runId, fromSeq, isFrozen]) => {
    if (isFrozen === 1) return;
    const { record } = fold(runId, shared.of(key, fromSeq === null ? null : { fromSeq }), ({ open }) => {
      const asked = [...open.values()].at(-1);
      if (asked !== undefined) saveQuestion.run(asked.title, key, asked.interruptId);
    });
    saveRun.run(summaryText(record.summary), key);
  };
}
