/** The queue: which runs need a step, and which node may step them. */
import type { RunId } from '@cairn/protocol';

export interface Queue {
  /** Leases runs that are due, or whose owner's session ended. Never gives the same run to two owners. */
  claim(request: {
    readonly owner: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly Claim[]>;
  /** Keeps every lease of this owner until then. */
  renew(request: { readonly owner: string; readonly until: number }): Promise<void>;
  /** Gives one lease back without an append; ignored when the fence is no longer current. */
  release(request: { readonly runId: RunId; readonly fence: number; readonly wakeAt: number | null }): Promise<void>;
  /** The earliest instant at which `claim` could return something; null when nothing waits for time. */
  due(): Promise<number | null>;
  depth(now: number): Promise<QueueDepth>;
}

export interface Claim {
  readonly runId: RunId;
  readonly fence: number;
}

export interface QueueDepth {
  /** Runs that have not ended. */
  readonly active: number;
  /** Those of them that are due and have no owner. */
  readonly due: number;
}
