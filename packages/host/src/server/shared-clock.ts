/**
 * Nodes compare the ends of leases with their own clocks. One whose clock is ahead would take the runs and jobs of all others
 * again and again, and one whose clock is behind would lose its own. So a node starts only with the time of its database.
 */
import { TerminalError } from '@cairn/protocol';

export interface SharedClock {
  /** What the clock of the database shows. */
  readonly shared: () => Promise<number>;
  readonly now: () => number;
  readonly leaseMs: number;
}

export async function checkClock({ shared, now, leaseMs }: SharedClock): Promise<void> {
  const before = now();
  const theirs = await shared();
  // It was read at some time in between.
  const aheadMs = Math.max(before - theirs, 0) - Math.max(theirs - now(), 0);
  if (Math.abs(aheadMs) <= leaseMs / 2) return;
  throw new TerminalError('config_invalid', {
    message: `The clock of this node is ${Math.abs(aheadMs) / 1_000} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of its database.`,
    hint: `Let all machines keep time (NTP): nodes with different clocks take each other's runs. Half of leaseMs (${leaseMs}) is allowed.`,
    details: { aheadMs },
  });
}
