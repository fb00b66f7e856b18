/**
 * A mailbox's view of its run's lease: plain data and its transitions, without I/O. Transitions update the object in
 * place, because every step of every run uses it.
 */

export interface LeaseState {
  /** The fence of the lease the mailbox writes under; null while this process holds none. */
  fence: number | null;
  /** The fence of a newer lease that the scheduler claimed for this node and the mailbox has not adopted yet. */
  claimed: number | null;
  /** Open calls belong to a previous holder. Stays true until the rows that handle them are durable. */
  takenOver: boolean;
  /** The mailbox has checked, under this lease, which relatives of the run ended unnoticed. */
  hasCheckedRelatives: boolean;
}

export const newLease = (): LeaseState => ({
  fence: null,
  claimed: null,
  takenOver: false,
  hasCheckedRelatives: false,
});

/**
 * Records a claim by the scheduler. The mailbox adopts it later, because an append under the old lease may be in
 * progress.
 */
export function claimed(lease: LeaseState, fence: number): void {
  lease.claimed = fence;
}

/** Adopts the claimed lease between two appends; the mailbox writes under it from then on. */
export function adoptClaim(lease: LeaseState): void {
  if (lease.claimed === null) return;
  lease.fence = lease.claimed;
  lease.claimed = null;
  lease.takenOver = true;
  lease.hasCheckedRelatives = false;
}

/** Returns true if the mailbox holds a lease and has not checked for missed ends under it. */
export const needsRelativesCheck = (lease: LeaseState): boolean => !lease.hasCheckedRelatives && lease.fence !== null;

export function checkedRelatives(lease: LeaseState): void {
  lease.hasCheckedRelatives = true;
}

/** Open calls without a lease in this process belong to a dead holder; the append that takes the lease handles them. */
export function composing(lease: LeaseState, hasOpenCalls: boolean): void {
  lease.takenOver = (lease.takenOver || lease.fence === null) && hasOpenCalls;
}

/** The mailbox had nothing to write, so the calls of a previous holder need no further handling. */
export function nothingToWrite(lease: LeaseState): void {
  lease.takenOver = false;
}

export interface DurableAppend {
  /** The run's fence after the append. */
  readonly fence: number;
  /** The append released the lease or ended the run. */
  readonly releases: boolean;
  /** The append was full before it handled the calls of the previous holder. */
  readonly leavesTakeOver: boolean;
  /** The log or the lease changed meanwhile, and the mailbox has not read the change. */
  readonly isStale: boolean;
}

/**
 * Applies a durable append. A claim that arrived during the append is kept, unless the append itself took that lease.
 */
export function appended(lease: LeaseState, { fence, releases, leavesTakeOver, isStale }: DurableAppend): void {
  lease.takenOver = leavesTakeOver;
  lease.fence = releases ? null : fence;
  if (lease.claimed !== null && lease.claimed <= fence) lease.claimed = null;
  if (releases || isStale) lease.hasCheckedRelatives = false;
}

/** Gives up the lease between two appends. Returns the fence to release. */
export function givenBack(lease: LeaseState): number | null {
  const { fence } = lease;
  lease.fence = null;
  lease.hasCheckedRelatives = false;
  return fence;
}

/** Drops the lease for good. Returns the fence of a claim that was never adopted, for the caller to release. */
export function dropped(lease: LeaseState): number | null {
  const unused = lease.claimed;
  lease.claimed = null;
  lease.fence = null;
  return unused;
}
