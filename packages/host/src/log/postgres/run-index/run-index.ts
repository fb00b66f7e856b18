/** The run index in Postgres: lists and inbox. */
import type { RunId, RunStatus } from '@cairn/protocol';
import { MAX_CHILD_COUNT, type RunIndex } from '../../ports/run-index.ts';
import type { Database } from '../database.ts';
import type { HeadCache } from '../heads.ts';
import { encodeJson } from '../text-codec.ts';
import { interruptsOf, pending } from './inbox.ts';
import { rebuild } from './rebuild.ts';
import { runPage } from './run-list.ts';

export function postgresRunIndex(database: Database, heads: HeadCache): RunIndex {
  return {
    list: (query) => runPage(database, query),
    shown: async (runIds) => {
      const found = await database.rows<[RunId, RunStatus]>(
        'SELECT id, shown FROM cairn.runs WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))',
        [encodeJson(runIds)],
      );
      const shown = new Map(found);
      return new Map(runIds.flatMap((runId) => (shown.has(runId) ? [[runId, shown.get(runId) as RunStatus]] : [])));
    },
    childCounts: async (runIds) => {
      const found = await database.rows<[RunId, number]>(
        `SELECT id, (SELECT count(*) FROM (SELECT 1 FROM cairn.runs WHERE parent = ids.id LIMIT ${MAX_CHILD_COUNT}) AS below)::integer
           FROM jsonb_array_elements_text($1::text::jsonb) AS ids (id)`,
        [encodeJson(runIds)],
      );
      return new Map(found.filter(([, count]) => count > 0));
    },
    interrupts: (runId) => interruptsOf(database, runId),
    pending: (query) => pending(database, query),
    tenantLogBytes: async (tenant) => {
      const [[bytes] = [0]] = await database.rows<[number]>(
        'SELECT coalesce(sum(log_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
        [tenant],
      );
      return bytes;
    },
    rebuild: () => rebuild(database, heads),
  };
}
