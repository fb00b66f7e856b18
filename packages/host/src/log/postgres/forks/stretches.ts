/** Which runs own the rows of a run: itself, and for a fork the runs whose rows it shares. */
import type { RunId } from '@cairn/protocol';
import type { Queries } from '../database.ts';

/** The rows of the run with the key `owner` from the seq `from` on, before `through`. */
export interface Stretch {
  readonly owner: number;
  readonly from: number;
  readonly through: number;
}

/** In the order of their rows, without gaps. */
export type Stretches = readonly Stretch[];

/** Empty for a run that does not exist. The last stretch is the run's own, which has no end. */
export async function stretchesOf(queries: Queries, runId: RunId): Promise<Stretches> {
  const found = await queries.rows<[owner: number, from: number, through: number]>(
    `SELECT s.owner, s.from_seq, s.through FROM cairn.runs r JOIN cairn.shared_rows s ON s.run = r.key WHERE r.id = $1::text
       UNION ALL SELECT r.key, coalesce(r.fork_seq, 0), ${Number.MAX_SAFE_INTEGER} FROM cairn.runs r WHERE r.id = $1::text
       ORDER BY 3`,
    [runId],
  );
  return found.map(([owner, from, through]) => ({ owner, from, through }));
}

/** The rows before a seq, in whichever runs they are. */
export const before = (stretches: Stretches, seq: number): Stretches =>
  stretches.filter(({ from }) => from < seq).map((one) => ({ ...one, through: Math.min(one.through, seq) }));

/** As a parameter: `jsonb_to_recordset($n::text::jsonb) AS s (owner bigint, from_seq bigint, through bigint)`. */
export const stretchesJson = (stretches: Stretches): string =>
  JSON.stringify(stretches.map(({ owner, from, through }) => ({ owner, from_seq: from, through })));

/** Whether any row of these was purged. */
export async function isPurged(queries: Queries, stretches: Stretches): Promise<boolean> {
  const found = await queries.rows(
    `SELECT 1 FROM jsonb_to_recordset($1::text::jsonb) AS s (owner bigint, from_seq bigint, through bigint)
       JOIN cairn.tombstones t ON t.run = s.owner AND t.seq >= s.from_seq AND t.seq < s.through LIMIT 1`,
    [stretchesJson(stretches)],
  );
  return found.length > 0;
}
