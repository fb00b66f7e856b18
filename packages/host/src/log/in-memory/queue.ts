/** The in-memory queue: leases are fields of the runs. */
import { claimed, released } from '../admit.ts';
import type { Queue } from '../ports/queue.ts';
import { tenantsInTurn } from '../tenants-in-turn.ts';
import type { Tables } from './tables.ts';

export const inMemoryQueue = (tables: Tables): Queue => ({
  claim: async ({ owner, now, until, limit }) => {
    const due = [...tables.runs().values()]
      .filter(({ head }) => (head.owner === null ? (head.wakeAt ?? Infinity) <= now : !tables.isAlive(head.owner, now)))
      .sort((a, b) => (a.head.wakeAt ?? 0) - (b.head.wakeAt ?? 0) || a.place - b.place);
    const claimable = due.length <= limit ? due : tenantsInTurn(due, ({ head }) => head.record.tenant, limit);
    tables.extendSession(owner, until);
    return claimable.map((run) => {
      run.head = claimed(run.head, owner);
      const { runId, tenant } = run.head.record;
      return { runId, tenant, fence: run.head.fence };
    });
  },
  renew: async ({ owner, until }) => {
    tables.assertOpen();
    tables.sessions.set(owner, until);
  },
  release: async ({ runId, fence, wakeAt }) => {
    const run = tables.runs().get(runId);
    if (run === undefined || run.head.owner === null || run.head.fence !== fence) return;
    run.head = released(run.head, wakeAt);
  },
  due: async () => {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { head } of tables.runs().values()) {
      const at = head.owner === null ? head.wakeAt : (tables.sessions.get(head.owner) ?? 0);
      if (at !== null && at < earliest) earliest = at;
    }
    return Number.isFinite(earliest) ? earliest : null;
  },
  depth: async (now) => {
    const active = [...tables.runs().values()].filter(
      ({ head: { record } }) => record.endedAt === null && record.importedAt === null,
    );
    const due = active.filter(({ head }) => head.owner === null && (head.wakeAt ?? Infinity) <= now);
    return { active: active.length, due: due.length };
  },
});
