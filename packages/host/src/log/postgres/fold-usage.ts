/**
 * Puts together what processes of the past counted for a tenant. Each counts on rows of its own, and every commit adds up all
 * rows of its tenant: without this, commits would take longer with every start of a node there ever was.
 */
import type { Database } from './database.ts';

/** The last processes that started may still run. Rows of one that runs may be taken, too, but its commit would wait. */
const RUNNING = 16;

/** Rows that a start takes. The next one goes on. */
const FOLDED_ROWS = 10_000;

export async function foldUsage(database: Database, writer: number): Promise<void> {
  await database.transaction((queries) =>
    queries.changed(
      `WITH old AS (
         DELETE FROM cairn.usage u USING (
           SELECT tenant, writer, lane FROM cairn.usage WHERE writer > 0 AND writer < $1::integer
             LIMIT ${FOLDED_ROWS} FOR UPDATE SKIP LOCKED) o
         WHERE (u.tenant, u.writer, u.lane) = (o.tenant, o.writer, o.lane) RETURNING u.tenant, u.log_bytes, u.blob_bytes)
       INSERT INTO cairn.usage (tenant, writer, log_bytes, blob_bytes)
         SELECT tenant, 0, sum(log_bytes), sum(blob_bytes) FROM old GROUP BY tenant ORDER BY tenant
         ON CONFLICT (tenant, writer, lane) DO UPDATE SET log_bytes = usage.log_bytes + excluded.log_bytes,
           blob_bytes = usage.blob_bytes + excluded.blob_bytes`,
      [writer - RUNNING],
    ),
  );
}
