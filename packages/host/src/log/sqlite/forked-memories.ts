/** Which memory changes a fork sees: what its source saw before the cut, and then its own. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { AsOf } from '../ports/memories.ts';
import { lastRowReader } from './forks/last-row.ts';
import { PurgedRows } from './forks/purged-rows.ts';
import { SharedRows, type Stretches, stretchWith } from './forks/stretches.ts';
import { query } from './query.ts';

/** Runs never nest deeper. */
const MAX_DEPTH = 64;

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
export type ForkViews = (tenant: string, scope: number, asOf: AsOf) => ForkView | null | undefined;

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
  const endedBelow = endedWriters(db, shared, lastOf);

  const topsOf = (stretches: Stretches, beforeSeq: number): readonly Top[] =>
    stretches.map(({ owner, through }) => {
      const seq = Math.min(through - 1, beforeSeq);
      const at = stretches[stretchWith(stretches, seq)]?.owner ?? owner;
      const end = cursorAt(at, seq) ?? Number.MAX_SAFE_INTEGER;
      const [runId = '' as RunId] = idOf.get(owner) ?? [];
      return { runId, key: owner, through: Math.min(through, beforeSeq), end };
    });

  return (tenant, scope, { runId, beforeSeq }) => {
    const [key, fromSeq, origin] = fork.get(runId, tenant) ?? [];
    if (key === undefined || origin === undefined) return null;
    if (fromSeq === null || fromSeq === undefined) return undefined;
    const [first] = keyOf.get(origin) ?? [];
    const start = first === undefined ? null : cursorAt(first, 0);
    if (start === null) return null;
    const tops = topsOf(shared.of(key, { fromSeq }), beforeSeq);
    const own = tops.map((top) => [top.key, top.through, 1]);
    return { start, seen: JSON.stringify([...own, ...endedBelow(scope, start, tops)]) };
  };
}

/** The runs that wrote to a memory, or whose forks have the rows that did, and that ended below one of the tops. */
function endedWriters(db: DatabaseSync, shared: SharedRows, lastOf: ReturnType<typeof lastRowReader>) {
  const writers = query<[run: number]>(
    db,
    `SELECT run FROM memory_entries WHERE scope = ?1 AND cursor > ?2
       UNION SELECT run FROM memory_drops WHERE scope = ?1 AND cursor > ?2`,
  );
  const having = query<[run: number, through: number]>(
    db,
    `SELECT ?1, ${Number.MAX_SAFE_INTEGER} UNION ALL SELECT run, through FROM shared_rows WHERE owner = ?1`,
  );
  const run = query<[parent: RunId | null, fromSeq: number | null, endedAt: number | null]>(
    db,
    'SELECT parent, fork_seq, ended_at FROM runs WHERE key = ?',
  );
  const parentOf = query<[parent: RunId | null]>(db, 'SELECT parent FROM runs WHERE id = ?');
  const above = (parent: RunId): ReadonlySet<RunId> => {
    const found = new Set<RunId>();
    for (let id: RunId | null = parent; id !== null && found.size < MAX_DEPTH; id = parentOf.get(id)?.[0] ?? null)
      found.add(id);
    return found;
  };
  const hasEndedBelow = (key: number, tops: readonly Top[]): boolean => {
    const [parent = null, fromSeq = null, endedAt = null] = run.get(key) ?? [];
    if (parent === null || endedAt === null) return false;
    const last = lastOf(shared.of(key, fromSeq === null ? null : { fromSeq }));
    const ids = above(parent);
    return last !== null && tops.some(({ runId, end }) => last.cursor < end && ids.has(runId));
  };
  return (scope: number, start: number, tops: readonly Top[]): readonly (readonly number[])[] =>
    writers
      .all(scope, start)
      .flatMap(([writer]) =>
        having.all(writer).flatMap(([key, through]) => (hasEndedBelow(key, tops) ? [[writer, through, 0]] : [])),
      );
}
