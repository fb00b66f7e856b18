/** The queue: runs that need a step, and the nodes that may step them. */
import type { RunId } from '@cairn/protocol';

export interface Queue {
  /**
   * Leases runs that are due or whose owner's session ended. Never leases one run to two owners. If more runs are due
   * than the limit, each tenant with a due run gets its turn.
   */
  claim(request: {
    readonly owner: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly Claim[]>;
  /** Extends every lease of this owner until the given instant. */
  renew(request: { readonly owner: string; readonly until: number }): Promise<void>;
  /** Releases one lease without an append; ignored when the fence is stale. */
  release(request: { readonly runId: RunId; readonly fence: number; readonly wakeAt: number | null }): Promise<void>;
  /** The earliest instant at which `claim` could return a run; null when no run waits for time. */
  due(): Promise<number | null>;
  depth(now: number): Promise<QueueDepth>;
}

export interface Claim {
  readonly runId: RunId;
  readonly tenant: string;
  readonly fence: number;
  /** The owner that had the run when its session ended. Missing for a run that was due, and in a store of one process. */
  readonly former?: string | undefined;
}

export interface QueueDepth {
  /** Runs that have not ended. */
  readonly active: number;
  /** Active runs that are due and have no owner. */
  readonly due: number;
}
