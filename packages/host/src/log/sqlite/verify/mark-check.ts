/** Checks the marks of what no hash of an event covers: tombstones, purged runs, and checkpoints. */
import type { DatabaseSync } from 'node:sqlite';
import { defineMarks, FROZEN_COLUMNS, ORIGIN_COLUMNS, PURGED_RUN_COLUMNS, TOMBSTONE_COLUMNS } from '../marks.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

export interface MarkCheck {
  ofRun(run: { readonly key: number; readonly runId: string }, report: ReportProblem): void;
  /** What belongs to no run, or to two. */
  others(report: ReportProblem): void;
}

const CHECKPOINT = 'mark IS NOT NULL AND mark IS NOT mark_of(run, seq, format, body)';

/** A folder of an earlier program has no marks. */
export function markCheck(db: DatabaseSync): MarkCheck {
  const hasMarks = db.prepare("SELECT 1 FROM pragma_table_info('tombstones') WHERE name = 'mark'").get() !== undefined;
  if (!hasMarks) return { ofRun: () => undefined, others: () => undefined };
  defineMarks(db);
  const seqs = (sql: string) => query<[seq: number]>(db, sql);
  const tombstones = seqs(
    `SELECT seq FROM tombstones WHERE run = ? AND mark IS NOT NULL AND mark IS NOT mark_of(${TOMBSTONE_COLUMNS}) ORDER BY seq`,
  );
  const run = seqs(
    `SELECT seq FROM purged_runs WHERE key = ? AND (unfinished NOT IN (0, 1)
       OR mark IS NOT NULL AND mark IS NOT mark_of(${PURGED_RUN_COLUMNS}))`,
  );
  const states = seqs(`SELECT seq FROM checkpoints WHERE run = ? AND ${CHECKPOINT} ORDER BY seq`);
  const indexes = seqs(
    `SELECT seq FROM index_checkpoints WHERE run = ? AND mark IS NOT NULL AND mark IS NOT mark_of(run, seq, body)
       ORDER BY seq`,
  );
  const origins = seqs(
    `SELECT 0 FROM runs WHERE key = ? AND mark IS NOT NULL AND mark IS NOT mark_of(${ORIGIN_COLUMNS})`,
  );
  const frozen = seqs(
    `SELECT 0 FROM runs WHERE key = ? AND frozen IS NOT NULL AND frozen IS NOT mark_of(${FROZEN_COLUMNS})`,
  );
  const twice = query<[id: string]>(db, 'SELECT id FROM purged_runs WHERE id IN (SELECT id FROM runs)');
  const foreign = query<[run: string, seq: number]>(
    db,
    `SELECT run, seq FROM checkpoints WHERE run NOT IN (SELECT id FROM runs) AND ${CHECKPOINT}`,
  );
  return {
    ofRun({ key, runId }, report) {
      for (const [seq] of tombstones.iterate(key)) report(seq, `what is left of event ${seq} was changed`);
      for (const [seq] of run.iterate(key)) report(seq, 'what is left of the run was changed');
      for (const _ of origins.iterate(key)) report(null, 'what the run list says of its origin was changed');
      for (const _ of frozen.iterate(key))
        report(null, 'the run list or the inbox was changed since the first events of the run were purged');
      for (const [seq] of states.iterate(runId)) report(seq, `the checkpoint at event ${seq} was changed`);
      for (const [seq] of indexes.iterate(key)) report(seq, `the checkpoint of the index at event ${seq} was changed`);
    },
    others(report) {
      for (const [id] of twice.iterate()) report(null, `run ${id} exists, and was purged`);
      for (const [name, seq] of foreign.iterate())
        report(seq, `the checkpoint ${JSON.stringify(name)} at ${seq} was changed, or belongs to no run`);
    },
  };
}
