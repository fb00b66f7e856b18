/** Which memory changes a fork sees: what its source saw before the cut, and then its own. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { AsOf } from '../../ports/memories.ts';
import { lastRowReader } from '../forks/last-row.ts';
import { PurgedRows } from '../forks/purged-rows.ts';
import { SharedRows, type Stretches, stretchWith } from '../forks/stretches.ts';
import { query } from '../query.ts';

/** A stretch of a fork's rows, as memories need it. */
interface Top {
  readonly runId: RunId;
  readonly key: number;
  /** Changes of the owner before this seq are seen. */
  readonly through: number;
  /** Changes of a run below the owner are seen if it ended before this cursor. */
  readonly end: number;
}

export interface ForkView {
  /** The cursor at which the first run of all started. */
  readonly start: number;
  /** JSON: for each run whose changes are seen, its key, the seq before which they are, and whether turns count. */
  readonly seen: string;
}

/** Returns undefined for a run that is no fork, and null for one that the tenant does not have. */
export type ForkViews = (tenant: string, asOf: AsOf) => ForkView | null | undefined;

export function forkViews(db: DatabaseSync): ForkViews {
  const shared = new SharedRows(db);
  const purged = new PurgedRows(db);
  const lastOf = lastRowReader(db);
  const fork = query<[key: number, fromSeq: number | null, origin: RunId]>(
    db,
    'SELECT key, fork_seq, origin FROM runs WHERE id = ? AND tenant = ?',
  );
  const keyOf = query<[key: number]>(
    db,
    'SELECT key FROM runs WHERE id = ?1 UNION ALL SELECT key FROM purged_runs WHERE id = ?1',
  );
  const idOf = query<[id: RunId]>(
    db,
    'SELECT id FROM runs WHERE key = ?1 UNION ALL SELECT id FROM purged_runs WHERE key = ?1',
  );
  const row = query<[cursor: number]>(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
  const cursorAt = (owner: number, seq: number): number | null =>
    row.get(owner, seq)?.[0] ?? purged.cursorAt(owner, seq);
  const seenBelow = endedBelow(db, shared, lastOf);

  const topsOf = (stretches: Stretches, beforeSeq: number): readonly Top[] =>
    stretches.map(({ owner, through }) => {
      const seq = Math.min(through - 1, beforeSeq);
      const at = stretches[stretchWith(stretches, seq)]?.owner ?? owner;
      const end = cursorAt(at, seq) ?? Number.MAX_SAFE_INTEGER;
      const [runId = '' as RunId] = idOf.get(owner) ?? [];
      return { runId, key: owner, through: Math.min(through, beforeSeq), end };
    });

  return (tenant, { runId, beforeSeq }) => {
    const [key, fromSeq, origin] = fork.get(runId, tenant) ?? [];
    if (key === undefined || origin === undefined) return null;
    if (fromSeq === null || fromSeq === undefined) return undefined;
    const [first] = keyOf.get(origin) ?? [];
    const start = first === undefined ? null : cursorAt(first, 0);
    if (start === null) return null;
    const tops = topsOf(shared.of(key, { fromSeq }), beforeSeq);
    const own = tops.map((top) => [top.key, top.through, 1]);
    return { start, seen: JSON.stringify([...own, ...seenBelow(tops)]) };
  };
}

/**
 * The runs that ended below one of the tops, and the runs whose rows they share. They are found by their ids, which begin
 * with those of the runs above them: a memory may have thousands of other writers.
 */
function endedBelow(db: DatabaseSync, shared: SharedRows, lastOf: ReturnType<typeof lastRowReader>) {
  const below = query<[key: number, fromSeq: number | null]>(
    db,
    `SELECT key, fork_seq FROM runs WHERE id > ?1 || '.' AND id < ?1 || '/' AND parent IS NOT NULL AND ended_at IS NOT NULL`,
  );
  const seenOf = ({ runId, end }: Top): readonly (readonly number[])[] =>
    below.all(runId).flatMap(([key, fromSeq]) => {
      const stretches = shared.of(key, fromSeq === null ? null : { fromSeq });
      const last = lastOf(stretches);
      return last === null || last.cursor >= end ? [] : stretches.map(({ owner, through }) => [owner, through, 0]);
    });
  return (tops: readonly Top[]): readonly (readonly number[])[] => tops.flatMap(seenOf);
}
