/** The queue in Postgres. Leases are columns of the heads; small indexes hold only due and leased runs. */
import type { RunId } from '@cairn/protocol';
import type { Queue } from '../ports/queue.ts';
import type { Database } from './database.ts';
import type { KnownTenants } from './known-tenants.ts';

export function postgresQueue(database: Database, tenants: KnownTenants): Queue {
  return {
    claim: async ({ owner, now, until, limit }) => {
      const claims = await database.transaction((queries) =>
        queries.rows<[runId: RunId, tenant: string, fence: number, former: string | null]>(
          'SELECT id, tenant, fence, former FROM cairn.claim($1::text, $2::bigint, $3::bigint, $4::bigint)',
          [owner, now, until, limit],
        ),
      );
      for (const [runId, tenant] of claims) tenants.note(runId, tenant);
      return claims.map(([runId, tenant, fence, former]) => ({
        runId,
        tenant,
        fence,
        ...(former !== null && { former }),
      }));
    },
    renew: async ({ owner, until }) => {
      await database.changed(
        `INSERT INTO cairn.sessions VALUES ($1::text, $2::bigint) ON CONFLICT (owner) DO UPDATE SET until = excluded.until`,
        [owner, until],
      );
    },
    release: async ({ runId, fence, wakeAt }) => {
      await database.changed(
        `UPDATE cairn.heads SET owner = NULL, wake_at = least(wake_at, $3::bigint)
           WHERE run = (SELECT key FROM cairn.runs WHERE id = $1::text) AND fence = $2::bigint AND owner IS NOT NULL
             AND NOT is_over`,
        [runId, fence, wakeAt],
      );
    },
    due: async () => {
      const [[due] = [null]] = await database.rows<[number | null]>(
        `SELECT least((SELECT min(wake_at) FROM cairn.heads WHERE owner IS NULL AND wake_at IS NOT NULL),
           (SELECT min(until) FROM cairn.owners()))`,
      );
      return due;
    },
    depth: async (now) => {
      const [[active, due] = [0, 0]] = await database.rows<[active: number, due: number]>(
        `SELECT (SELECT count(*) FROM cairn.heads WHERE NOT is_over),
           (SELECT count(*) FROM cairn.heads WHERE owner IS NULL AND wake_at IS NOT NULL AND wake_at <= $1::bigint)`,
        [now],
      );
      return { active, due };
    },
  };
}
