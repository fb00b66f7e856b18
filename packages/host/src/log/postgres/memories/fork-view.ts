/** Which memory changes a fork sees: what its source saw before the cut, and then its own. */
import type { RunId } from '@cairn/protocol';
import type { AsOf } from '../../ports/memories.ts';
import type { Queries } from '../database.ts';

export interface ForkView {
  /** The cursor at which the first run of all started. */
  readonly start: number;
  /** JSON: for each run whose changes are seen, its key, the seq before which they are, and whether turns count. */
  readonly seen: string;
}

/** Rows of all runs, tombstones among them. */
const PLACES = `(SELECT run, seq, cursor FROM cairn.events UNION ALL SELECT run, seq, cursor FROM cairn.tombstones)`;

/** Runs that own rows of a fork, and up to where they are seen. `done`: the cursor before which runs below must have ended. */
const TOPS = `SELECT s.owner AS run, o.id, least(s.through, $2::bigint) AS before, coalesce((
      SELECT p.cursor FROM ${PLACES} p JOIN stretch x ON p.run = x.owner AND p.seq >= x.from_seq AND p.seq < x.through
        WHERE p.seq = least(s.through - 1, $2::bigint)), ${Number.MAX_SAFE_INTEGER}) AS done
    FROM stretch s JOIN (SELECT key, id FROM cairn.runs UNION ALL SELECT key, id FROM cairn.purged_runs) o ON o.key = s.owner`;

/** A run that ended below one of the tops, with the runs whose rows it shares. Its id begins with that of the run above. */
const BELOW = `SELECT w.owner AS run, w.through AS before FROM top JOIN cairn.runs r ON r.id > top.id || '.' AND r.id < top.id || '/'
      AND r.parent IS NOT NULL AND r.ended_at IS NOT NULL
    JOIN cairn.heads h ON h.run = r.key
    JOIN LATERAL (SELECT r.key AS owner, ${Number.MAX_SAFE_INTEGER} AS through
      UNION ALL SELECT x.owner, x.through FROM cairn.shared_rows x WHERE x.run = r.key) w ON true
    WHERE (SELECT p.cursor FROM ${PLACES} p JOIN (SELECT r.key AS owner, coalesce(r.fork_seq, 0) AS from_seq
        UNION ALL SELECT x.owner, x.from_seq FROM cairn.shared_rows x WHERE x.run = r.key AND h.seq < x.through) y
        ON p.run = y.owner WHERE p.seq = h.seq ORDER BY y.from_seq DESC LIMIT 1) < top.done`;

/** Returns undefined for a run that is no fork, and null for one that the tenant does not have. */
export async function forkView(
  queries: Queries,
  tenant: string,
  { runId, beforeSeq }: AsOf,
): Promise<ForkView | null | undefined> {
  const [found] = await queries.rows<[fromSeq: number | null, origin: RunId]>(
    'SELECT fork_seq, origin FROM cairn.runs WHERE id = $1::text AND tenant = $2::text',
    [runId, tenant],
  );
  if (found === undefined) return null;
  if (found[0] === null) return undefined;
  const [first] = await queries.rows<[number]>(
    `SELECT p.cursor FROM ${PLACES} p JOIN (SELECT key, id FROM cairn.runs UNION ALL SELECT key, id FROM cairn.purged_runs) o
       ON o.key = p.run WHERE o.id = $1::text AND p.seq = 0`,
    [found[1]],
  );
  if (first === undefined) return null;
  const [[seen] = ['[]']] = await queries.rows<[string]>(
    `WITH stretch AS (
       SELECT r.key AS owner, r.fork_seq AS from_seq, ${Number.MAX_SAFE_INTEGER} AS through FROM cairn.runs r WHERE r.id = $1::text
       UNION ALL SELECT s.owner, s.from_seq, s.through FROM cairn.runs r JOIN cairn.shared_rows s ON s.run = r.key
         WHERE r.id = $1::text
     ), top AS (${TOPS})
     SELECT coalesce(json_agg(json_build_object('run', x.run, 'before', x.before, 'turns', x.turns)), '[]')::text FROM (
       SELECT run, before, true AS turns FROM top UNION ALL SELECT run, before, false FROM (${BELOW}) below) x`,
    [runId, beforeSeq],
  );
  return { start: first[0], seen };
}
