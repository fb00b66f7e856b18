/** Checks a database as a whole: its pages and indexes, rows that belong to no run, and the cursors. */
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

/** Tables whose rows belong to a run, with the name that a report gives them. */
const OWNED = {
  events: 'events',
  tombstones: 'retired events',
  interrupts: 'interrupts',
  large_values: 'large values',
  context_segments: 'segments of contexts',
  run_tags: 'tags',
  shared_rows: 'shared stretches of events',
  index_checkpoints: 'checkpoints of the index',
  artifacts: 'versions of artifacts',
} as const;

const MAX_DAMAGE = 10;

export function folderChecks(db: DatabaseSync): (report: ReportProblem, doubt: ReportProblem) => void {
  const keys = 'SELECT key FROM runs UNION ALL SELECT key FROM purged_runs';
  const checkCursors = cursorCheck(db);
  const tags = query<[tag: string, run: number]>(
    db,
    `SELECT tag, run FROM run_tags JOIN runs ON runs.key = run_tags.run
       WHERE run_tags.tenant <> runs.tenant OR json_valid(runs.tags) AND NOT EXISTS (SELECT 1 FROM json_each(runs.tags) AS own WHERE own.value = tag)`,
  );
  const contexts = contextCheck(db);
  return (report, doubt) => {
    contexts(report);
    for (const damage of query<[found: string]>(db, `PRAGMA integrity_check(${MAX_DAMAGE})`).iterate())
      if (damage[0] !== 'ok') report(null, `the database file is damaged: ${damage[0]}`);
    for (const [table, name] of Object.entries(OWNED)) {
      // A folder that no host has opened since there are artifacts has no table for them.
      if (!hasTable(db, table)) continue;
      const seq = table === 'events' || table === 'tombstones' ? 'min(seq)' : 'NULL';
      const orphans = query<[count: number, seq: number | null]>(
        db,
        `SELECT count(*), ${seq} FROM ${table} WHERE run NOT IN (${keys}) GROUP BY run`,
      );
      for (const [count, first] of orphans.iterate()) report(first, `${count} ${name} belong to no run`);
    }
    for (const [tag, run] of tags.iterate())
      report(null, `the run with the key ${run} is listed under ${JSON.stringify(tag)}, which is not one of its tags`);
    checkCursors(report, doubt);
  };
}

const hasTable = (db: DatabaseSync, table: string): boolean =>
  db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== undefined;

/**
 * Earlier programs left a gap when a transaction failed, so an old gap alone proves nothing. Rows that were copied from
 * Postgres have gaps wherever a transaction failed there.
 */
function cursorCheck(db: DatabaseSync): (report: ReportProblem, doubt: ReportProblem) => void {
  const cursors = query<[cursor: number, run: number, seq: number]>(
    db,
    'SELECT cursor, run, seq FROM events UNION ALL SELECT cursor, run, seq FROM tombstones ORDER BY cursor',
  );
  const dense = query<[after: string]>(db, "SELECT value FROM folder_facts WHERE name = 'dense_after'");
  const sparse = query<[until: string]>(db, "SELECT value FROM folder_facts WHERE name = 'sparse_until'");
  const names = query<[id: string]>(
    db,
    'SELECT id FROM runs WHERE key = ?1 UNION ALL SELECT id FROM purged_runs WHERE key = ?1',
  );
  return (report, doubt) => {
    const denseAfter = Number(dense.get()?.[0] ?? Number.POSITIVE_INFINITY);
    const sparseUntil = Number(sparse.get()?.[0] ?? 0);
    let expected = denseAfter === 0 ? 1 : null;
    for (const [cursor, run, seq] of cursors.iterate()) {
      if (expected !== null && cursor !== expected && cursor > sparseUntil) {
        const gap = `no event has the cursors ${expected} to ${cursor - 1}`;
        const [runId = `with the key ${run}`] = names.get(run) ?? [];
        if (expected > denseAfter) report(seq, `event ${seq} of run ${runId} has the cursor ${cursor}, but ${gap}`);
        else doubt(seq, gap);
      }
      expected = cursor + 1;
    }
  };
}

/** The index of contexts follows from the events: a segment for each time that a context goes on with another run. */
function contextCheck(db: DatabaseSync): (report: ReportProblem) => void {
  const wrong = query<[context: string, cursor: number]>(
    db,
    `SELECT segments.context, segments.cursor FROM context_segments AS segments
       LEFT JOIN events ON events.cursor = segments.cursor LEFT JOIN runs ON runs.key = segments.run
       WHERE segments.run NOT IN (SELECT key FROM purged_runs)
         AND (events.run IS NOT segments.run OR events.seq IS NOT segments.seq OR runs.context IS NOT segments.context)`,
  );
  const missed = query<[seq: number, context: string]>(
    db,
    `SELECT min(events.seq), runs.context FROM events CROSS JOIN runs ON runs.key = events.run
       WHERE (SELECT segments.run FROM context_segments AS segments WHERE segments.context = runs.context
         AND segments.cursor <= events.cursor ORDER BY segments.cursor DESC LIMIT 1) IS NOT events.run
       GROUP BY events.run`,
  );
  return (report) => {
    for (const [context, cursor] of wrong.iterate())
      report(null, `the index of the context ${context} is wrong at the cursor ${cursor}`);
    for (const [seq, context] of missed.iterate()) report(seq, `the index of the context ${context} misses the event`);
  };
}
