/**
 * What a mailbox knows of its run's lease: plain data and its transitions, without I/O. The object is changed in place,
 * because every step of every run passes through here.
 */

export interface LeaseState {
  /** The fence of the lease the mailbox writes under; null while this process holds none. */
  fence: number | null;
  /** The fence of a newer lease that the scheduler claimed for this node and the mailbox has not adopted yet. */
  claimed: number | null;
  /** Open calls belong to a former holder. Stays true until the rows that deal with them are durable. */
  takenOver: boolean;
  /** Under this very lease the mailbox has checked which of the run's relatives ended unnoticed. */
  hasCheckedRelatives: boolean;
}

export const newLease = (): LeaseState => ({
  fence: null,
  claimed: null,
  takenOver: false,
  hasCheckedRelatives: false,
});

/** The scheduler claimed the run. An append under the old lease may be under way, so the mailbox adopts it later. */
export function claimed(lease: LeaseState, fence: number): void {
  lease.claimed = fence;
}

/** Between two appends: the mailbox writes under the claimed lease from here on. */
export function adoptClaim(lease: LeaseState): void {
  if (lease.claimed === null) return;
  lease.fence = lease.claimed;
  lease.claimed = null;
  lease.takenOver = true;
  lease.hasCheckedRelatives = false;
}

/** Whether the mailbox holds a lease under which it has not looked for ends it may have missed. */
export const needsRelativesCheck = (lease: LeaseState): boolean => !lease.hasCheckedRelatives && lease.fence !== null;

export function checkedRelatives(lease: LeaseState): void {
  lease.hasCheckedRelatives = true;
}

/** Calls that are open while nobody here holds the lease are a dead holder's; the append that takes the lease sees to them. */
export function composing(lease: LeaseState, hasOpenCalls: boolean): void {
  lease.takenOver = (lease.takenOver || lease.fence === null) && hasOpenCalls;
}

/** The mailbox had nothing to write: a former holder's calls need nothing more. */
export function nothingToWrite(lease: LeaseState): void {
  lease.takenOver = false;
}

export interface DurableAppend {
  /** The run's fence with the append. */
  readonly fence: number;
  /** The append gave the lease back, or ended the run. */
  readonly releases: boolean;
  /** The append was full before the former holder's calls were dealt with. */
  readonly leavesTakeOver: boolean;
  /** Something was written or claimed meanwhile that the mailbox has not read. */
  readonly isStale: boolean;
}

/** An append is durable. A claim met while it was under way is kept, unless the append itself took that very lease. */
export function appended(lease: LeaseState, { fence, releases, leavesTakeOver, isStale }: DurableAppend): void {
  lease.takenOver = leavesTakeOver;
  lease.fence = releases ? null : fence;
  if (lease.claimed !== null && lease.claimed <= fence) lease.claimed = null;
  if (releases || isStale) lease.hasCheckedRelatives = false;
}

/** The mailbox gives the lease back between two appends. Returns the fence to release. */
export function givenBack(lease: LeaseState): number | null {
  const { fence } = lease;
  lease.fence = null;
  lease.hasCheckedRelatives = false;
  return fence;
}

/** The mailbox lets go of the run for good. Returns the fence of a claim it never adopted, to be released. */
export function dropped(lease: LeaseState): number | null {
  const unused = lease.claimed;
  lease.claimed = null;
  lease.fence = null;
  return unused;
}
