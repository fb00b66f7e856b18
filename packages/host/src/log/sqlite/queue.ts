/** The queue in SQLite. Leases are columns of the runs; two small indexes hold only due and leased runs. */
import type { RunId } from '@cairn/protocol';
import { claimed, released } from '../admit.ts';
import type { Claim, Queue } from '../ports/queue.ts';
import type { HeadCache } from './append/head-cache.ts';
import type { Connection } from './connection.ts';
import { query, required } from './query.ts';
import { dueRuns } from './run-index/due-runs.ts';
import { queueDepth } from './run-index/queue-depth.ts';
import type { Sessions } from './sessions.ts';

interface QueuePorts extends Connection {
  readonly heads: HeadCache;
  readonly sessions: Sessions;
}

export function sqliteQueue({ db, writer, read, heads, sessions }: QueuePorts): Queue {
  const due = dueRuns(db);
  const heldBy = query<[id: RunId]>(db, 'SELECT id FROM runs WHERE owner = ? ORDER BY key LIMIT ?');
  const nextOwner = query<[owner: string | null]>(db, 'SELECT min(owner) FROM runs WHERE owner > ?');
  const earliest = query<[at: number | null]>(
    db,
    'SELECT min(wake_at) FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL',
  );
  const depth = queueDepth(db);

  /** One index step per owner, regardless of how many runs it holds. */
  function* owners(): Generator<string> {
    let owner = nextOwner.get('')?.[0] ?? null;
    while (owner !== null) {
      yield owner;
      owner = nextOwner.get(owner)?.[0] ?? null;
    }
  }

  function claimable(now: number, limit: number): readonly RunId[] {
    const found: RunId[] = [];
    for (const owner of owners()) {
      if (sessions.isAlive(owner, now)) continue;
      for (const [id] of heldBy.all(owner, limit - found.length)) found.push(id);
    }
    return [...found, ...due(now, limit - found.length)];
  }

  function lease(runId: RunId, owner: string): Claim {
    const entry = required(heads.get(runId) ?? undefined, 'claimed-run-exists');
    heads.set(entry, claimed(entry.head, owner));
    return { runId, tenant: entry.head.record.tenant, fence: entry.head.fence };
  }

  return {
    claim: ({ owner, now, until, limit }) =>
      writer.submit({
        rows: limit,
        bytes: 0,
        apply: () => {
          heads.save(); // the queries below must see the leases changed by this transaction
          const claims = claimable(now, limit).map((runId) => lease(runId, owner));
          sessions.extend(owner, until);
          return claims;
        },
      }),
    renew: async ({ owner, until }) => read(() => sessions.set(owner, until)),
    release: ({ runId, fence, wakeAt }) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        apply: () => {
          const entry = heads.get(runId);
          if (entry === null || entry.head.owner === null || entry.head.fence !== fence) return;
          heads.set(entry, released(entry.head, wakeAt));
        },
      }),
    due: async () =>
      read(() => {
        const wakeAt = earliest.get()?.[0] ?? null;
        const ends = [...owners()].map((owner) => sessions.until(owner));
        const instants = wakeAt === null ? ends : [wakeAt, ...ends];
        return instants.length === 0 ? null : Math.min(...instants);
      }),
    depth: async (now) => read(() => depth(now)),
  };
}
