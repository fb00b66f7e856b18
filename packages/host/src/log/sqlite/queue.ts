/** The queue in SQLite: leases are columns of the runs, found by two small indexes that hold only due and held runs. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { given, taken } from '../admit.ts';
import type { Claim, Queue } from '../ports/queue.ts';
import { censusOf } from './census.ts';
import type { GroupCommit, Read } from './group-commit.ts';
import type { Sessions } from './sessions.ts';
import type { Slots } from './slots.ts';

interface QueueParts {
  readonly slots: Slots;
  readonly sessions: Sessions;
  readonly writer: GroupCommit;
  readonly read: Read;
}

export function sqliteQueue(db: DatabaseSync, { slots, sessions, writer, read }: QueueParts): Queue {
  const due = db.prepare('SELECT id FROM runs WHERE owner IS NULL AND wake_at <= ? ORDER BY wake_at, key LIMIT ?');
  const heldBy = db.prepare('SELECT id FROM runs WHERE owner = ? ORDER BY key LIMIT ?');
  const nextOwner = db.prepare('SELECT min(owner) AS owner FROM runs WHERE owner > ?');
  const earliest = db.prepare('SELECT min(wake_at) AS at FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL');
  const census = censusOf(db);
  const ids = (statement: StatementSync, ...values: (string | number)[]): RunId[] =>
    statement.all(...values).map((found) => found.id as RunId);

  /** One step through the index for each owner, however many runs each holds. */
  function* owners(): Generator<string> {
    let owner = nextOwner.get('')?.owner;
    while (typeof owner === 'string') {
      yield owner;
      owner = nextOwner.get(owner)?.owner;
    }
  }

  function claimable(now: number, limit: number): readonly RunId[] {
    const found: RunId[] = [];
    for (const owner of owners()) {
      if (!sessions.alive(owner, now)) found.push(...ids(heldBy, owner, limit - found.length));
    }
    return [...found, ...ids(due, now, limit - found.length)];
  }

  function lease(runId: RunId, owner: string): Claim {
    const entry = slots.get(runId)!;
    slots.set(entry, taken(entry.slot, owner));
    return { runId, fence: entry.slot.fence };
  }

  return {
    claim: ({ owner, now, until, limit }) =>
      writer.submit({
        rows: limit,
        bytes: 0,
        apply: () => {
          slots.save(); // the queries below must see the leases that this transaction changed
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
          const entry = slots.get(runId);
          if (entry === null || entry.slot.owner === null || entry.slot.fence !== fence) return;
          slots.set(entry, given(entry.slot, wakeAt));
        },
      }),
    due: async () =>
      read(() => {
        const wake = earliest.get()?.at;
        const ends = [...owners()].map((owner) => sessions.until(owner));
        const instants = typeof wake === 'number' ? [wake, ...ends] : ends;
        return instants.length === 0 ? null : Math.min(...instants);
      }),
    census: async (now) => read(() => census(now)),
  };
}
