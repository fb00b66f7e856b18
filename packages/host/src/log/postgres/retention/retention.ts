/** Retention in Postgres: what a purge would take. */
import type { Retention } from '../../ports/retention.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from '../../run-columns.ts';
import type { Database } from '../database.ts';

/** Rows of one page of sizes. */
const SIZE_PAGE = 1_000;

export function postgresRetention(database: Database): Retention {
  return {
    nextGroup: async (after) => {
      const [found] = await database.rows<[tenant: string, workflowId: string]>(
        `SELECT tenant, workflow FROM cairn.runs WHERE (tenant, workflow) > ($1::text, $2::text)
           ORDER BY tenant, workflow LIMIT 1`,
        [after?.tenant ?? '', after?.workflowId ?? ''],
      );
      return found === undefined ? null : { tenant: found[0], workflowId: found[1] };
    },
    children: async (parentRunId, after, limit) => {
      const found = await database.rows<RunColumns>(
        `SELECT ${RUN_COLUMNS} FROM cairn.runs AS runs WHERE parent = $1::text
           AND key > coalesce((SELECT key FROM cairn.runs WHERE id = $2::text), 0) ORDER BY key LIMIT $3::bigint`,
        [parentRunId, after, limit],
      );
      return found.map(recordOf);
    },
    forks: async (runId, limit) => {
      const found = await database.rows<RunColumns>(
        `SELECT ${RUN_COLUMNS} FROM cairn.runs AS runs WHERE key IN (
             SELECT s.run FROM cairn.runs r JOIN cairn.shared_rows s ON s.owner = r.key WHERE r.id = $1::text
             UNION SELECT f.key FROM cairn.runs f WHERE f.fork_source = $1::text AND f.ended_at IS NULL
               AND EXISTS (SELECT 1 FROM cairn.runs r WHERE r.id = $1::text)
           ) ORDER BY ended_at IS NOT NULL, key LIMIT $2::bigint`,
        [runId, limit],
      );
      return found.map(recordOf);
    },
    size: async (runId, afterSeq) => {
      const [[events, bytes, last] = [0, 0, null]] = await database.rows<[number, number, number | null]>(
        `SELECT count(*), coalesce(sum(bytes), 0)::bigint, max(seq) FROM (
           SELECT e.seq, e.bytes FROM cairn.runs r JOIN cairn.events e ON e.run = r.key
             WHERE r.id = $1::text AND e.seq > $2::bigint ORDER BY e.seq LIMIT ${SIZE_PAGE}) page`,
        [runId, afterSeq],
      );
      return { events, bytes, nextAfter: events < SIZE_PAGE ? null : last };
    },
  };
}
