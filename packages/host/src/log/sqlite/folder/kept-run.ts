/** A run as a data folder has it, for commands that need no host. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { RunFork } from '../../ports/run-index.ts';

/** A stored run, without its rows. */
export interface KeptRun {
  readonly key: number;
  readonly runId: RunId;
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly originRunId: RunId;
  readonly parentRunId: RunId | null;
  readonly definitionHash: string;
  /** For a fork: its source, and its first row that is not the source's. */
  readonly fork: RunFork | null;
  readonly status: string;
  /** seq and hash of its last row. */
  readonly seq: number;
  readonly hash: string;
  /** When it was purged; its rows are tombstones then. */
  readonly purgedAt: number | null;
}
