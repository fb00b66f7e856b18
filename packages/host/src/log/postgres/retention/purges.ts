/** Purges in Postgres. Every write is a small transaction of its own, so that any node can go on with a purge. */
import type { RunId } from '@cairn/protocol';
import type { Purges } from '../../ports/purges.ts';
import type { Database } from '../database.ts';
import { purgeSome, retire } from './purge-run.ts';

export function postgresPurges(database: Database, writer: number): Purges {
  return {
    retire: (runId, at) => retire(database, runId, at),
    purgeSome: (runId) => purgeSome(database, writer, runId),
    finish: async (runId) => {
      await database.changed('UPDATE cairn.purged_runs SET is_unfinished = false WHERE id = $1::text', [runId]);
    },
    unfinished: async (limit) => {
      const found = await database.rows<[RunId]>(
        'SELECT id FROM cairn.purged_runs WHERE is_unfinished ORDER BY key LIMIT $1::bigint',
        [limit],
      );
      return found.map(([id]) => id);
    },
    // Autovacuum gives the space of removed rows to new ones.
    releaseSome: async () => ({ bytes: 0, isReleasable: false }),
    shrink: async () => {},
  };
}
