/** A database with a million runs, written by SQL: filters that match nearly everything beside filters that match little. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunStatus } from '@cairn/protocol';
import { openMeasuredStore } from './measured-store.ts';

export const TENANT = 'large';

/** Statuses, workflows and tags of the large tenant, from common to rare. */
export const statuses: readonly RunStatus[] = ['completed', 'failed', 'running', 'waiting-input', 'paused'];
export const workflows = ['main', 'side', 'old'];
export const tags = ['common', 'user-7', 'old', 'nobody'];

/**
 * The rare values are among the oldest runs, behind everything else in the order of the list. No run is both rare in one
 * filter and rare in the next, so their intersections are empty.
 */
const STATUS = `CASE
  WHEN n < 3000 AND n % 100 = 1 THEN 'waiting-input'
  WHEN n < 3000 AND n % 100 = 2 THEN 'paused'
  WHEN n % 5000 = 3 OR n BETWEEN 4000 AND 4050 THEN 'running'
  WHEN n % 20 = 4 THEN 'failed' ELSE 'completed' END`;
const WORKFLOW = "CASE WHEN n < 3000 AND n % 100 = 5 THEN 'old' WHEN n % 50 = 6 THEN 'side' ELSE 'main' END";

const RUNS = `
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
  INSERT INTO runs (key, id, tenant, context, origin, workflow, definition, principal, status, tags, created_at, ended_at, fence)
  SELECT n, printf('run_%032x', n), CASE WHEN n % 20 = 0 THEN 'small-' || (n % 400) ELSE '${TENANT}' END,
    printf('ctx_%032x', n / 3), printf('run_%032x', n), ${WORKFLOW}, printf('%064x', n % 7), 'ada', ${STATUS},
    '["common","user-7"]', 1700000000000 + n, 1700000000000 + n, 1 FROM numbers`;

const tagged = (tag: string, where: string): string => `
  INSERT INTO run_tags (tenant, tag, run, workflow, shown)
  SELECT tenant, ${tag}, key, workflow, shown FROM runs WHERE ${where}`;

/** Returns the folder's file once it has `count` runs. */
export async function millionRuns(folder: string, count: number): Promise<string> {
  await (await openMeasuredStore(folder)).close();
  const file = join(folder, 'cairn.db');
  using db = new DatabaseSync(file);
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN');
  db.prepare(RUNS).run(count);
  db.exec(tagged("'common'", 'key % 2 = 0 OR key % 100 = 7'));
  db.exec(tagged("'user-' || (key % 1000)", 'true'));
  db.exec(tagged("'old'", 'key < 3000 AND key % 100 = 7'));
  db.exec(`INSERT INTO interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant)
    SELECT key, 'int_0', 'gate', 'clarification', 1, created_at, 1, '[]', tenant FROM runs WHERE key % 10 = 8`);
  db.exec('COMMIT');
  return file;
}
