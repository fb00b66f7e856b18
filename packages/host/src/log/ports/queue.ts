/** The queue: which runs need a step, and which node may step them. */
import type { RunId } from '@cairn/protocol';

/** The queue: which runs need a step, and which node may step them. */
export interface Queue {
  /** Lease runs that are due, or whose holder's session ended. Never the same run to two owners. */
  claim(request: {
    readonly owner: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly Claim[]>;
  /** Keep every lease of this owner until then. */
  renew(request: { readonly owner: string; readonly until: number }): Promise<void>;
  /** Give one lease back without an append; ignored when the fence is no longer current. */
  release(request: { readonly runId: RunId; readonly fence: number; readonly wakeAt: number | null }): Promise<void>;
  /** The earliest instant at which `claim` could return something; null when nothing waits for time. */
  due(): Promise<number | null>;
  /** How many runs have not ended, and how many of them are due and held by nobody. */
  census(now: number): Promise<Census>;
}

export interface Claim {
  readonly runId: RunId;
  readonly fence: number;
}

export interface Census {
  readonly active: number;
  readonly due: number;
}
