/** Checks what only a Postgres store keeps: heads, contexts, and the counters that new rows are numbered with. */
import type { RunId } from '@cairn/protocol';
import type { Queries } from '../postgres/database.ts';
import type { Problem } from '../sqlite/verify/problem.ts';

/** Problems of one kind that are reported; there may be as many as runs. */
const LISTED = 100;

type Found = [runId: RunId | null, seq: number | null, message: string];

/** The last row of a run: an own one, or for a fork without any the last that it shares. */
const LAST_ROW = `SELECT x.seq, x.hash FROM (
    SELECT e.seq, e.hash FROM cairn.events e WHERE e.run = r.key
    UNION ALL SELECT e.seq, e.hash FROM cairn.shared_rows s JOIN cairn.events e ON e.run = s.owner AND e.seq = s.through - 1
      WHERE s.run = r.key
    UNION ALL SELECT t.seq, t.hash FROM cairn.shared_rows s JOIN cairn.tombstones t ON t.run = s.owner AND t.seq = s.through - 1
      WHERE s.run = r.key
    ORDER BY 1 DESC LIMIT 1) x`;

const CHECKS: readonly string[] = [
  `SELECT r.id, h.seq, 'the head of the run is missing, or is not its last event' FROM cairn.runs r
     LEFT JOIN cairn.heads h ON h.run = r.key LEFT JOIN LATERAL (${LAST_ROW}) last ON true
     WHERE h.run IS NULL OR h.seq <> coalesce(last.seq, -1) OR last.hash <> h.hash OR h.tenant <> r.tenant
       OR h.is_over <> (r.ended_at IS NOT NULL OR r.imported_at IS NOT NULL)`,
  `SELECT NULL, NULL, 'a head belongs to no run' FROM cairn.heads h
     WHERE NOT EXISTS (SELECT 1 FROM cairn.runs r WHERE r.key = h.run)`,
  `SELECT r.id, NULL, 'the run is in another context than it says' FROM cairn.runs r
     LEFT JOIN cairn.contexts c ON c.key = r.context_key WHERE c.id IS DISTINCT FROM r.context OR c.tenant <> r.tenant`,
  `SELECT r.id, e.seq, 'the event is in another context than its run' FROM cairn.runs r
     JOIN cairn.events e ON e.run = r.key WHERE e.context <> r.context_key`,
  `SELECT NULL, NULL, 'the context ' || c.id || ' ends before its last event' FROM cairn.contexts c
     WHERE c.head < (SELECT max(e.cursor) FROM cairn.events e WHERE e.context = c.key)`,
  `SELECT NULL, NULL, 'new events would get cursors that are taken' FROM cairn.cursors
     WHERE last_value < greatest((SELECT max(cursor) FROM cairn.events), (SELECT max(cursor) FROM cairn.tombstones))`,
];

export async function postgresProblems(queries: Queries): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const check of CHECKS) {
    for (const [runId, seq, message] of await queries.rows<Found>(`${check} LIMIT ${LISTED}`))
      problems.push({ runId, seq, message });
  }
  return problems;
}
