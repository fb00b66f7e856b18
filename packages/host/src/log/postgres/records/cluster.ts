/** The cluster in Postgres: leases by name, what nodes say of themselves, and notices. */
import type { Cluster, NodeState } from '../../ports/cluster.ts';
import type { Database } from '../database.ts';
import type { Notices } from './notices.ts';

export function postgresCluster(database: Database, notices: Notices): Cluster {
  return {
    async hold({ name, owner, now, until }) {
      const [found] = await database.rows<[fence: number]>(
        `INSERT INTO cairn.named_leases AS held (name, owner, until, fence)
           VALUES ($1::text, $2::text, $4::bigint, 1)
           ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
             fence = held.fence + CASE WHEN held.until <= $3::bigint THEN 1 ELSE 0 END
             WHERE held.until <= $3::bigint OR held.owner = excluded.owner
           RETURNING fence`,
        [name, owner, now, until],
      );
      return found === undefined ? null : found[0];
    },
    async release({ name, owner, forgets = false }) {
      const change = forgets ? 'DELETE FROM cairn.named_leases' : 'UPDATE cairn.named_leases SET until = 0';
      await database.changed(`${change} WHERE name = $1::text AND owner = $2::text`, [name, owner]);
    },
    async beat({ node, body, now, until }) {
      const others = await database.rows<[node: string, body: string]>(
        `WITH mine AS (INSERT INTO cairn.nodes (node, body, until) VALUES ($1::text, $2::text, $4::bigint)
             ON CONFLICT (node) DO UPDATE SET body = excluded.body, until = excluded.until),
           gone AS (DELETE FROM cairn.nodes WHERE until <= $3::bigint AND node <> $1::text)
         SELECT node, body FROM cairn.nodes WHERE node <> $1::text AND until > $3::bigint ORDER BY node`,
        [node, body, now, until],
      );
      return others.map(([other, said]): NodeState => ({ node: other, body: said }));
    },
    async leave(node) {
      await database.changed('DELETE FROM cairn.nodes WHERE node = $1::text', [node]);
    },
    publish: (notice) => notices.publish(notice),
    follow: (listener) => notices.follow(listener),
  };
}
