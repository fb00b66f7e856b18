/** The run index: the run list and the inbox, folds of the rows that can be computed again. */
import type { ContextId, RunId, RunStatus } from '@cairn/protocol';

/** One row of the run list: a pure fold of the run's rows (see `run-index.ts`) beside its identity. Rebuildable. */
export interface RunRecord {
  readonly runId: RunId;
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly originRunId: RunId;
  readonly parentRunId: RunId | null;
  readonly workflowId: string;
  readonly definitionHash: string;
  readonly principal: string | null;
  readonly status: RunStatus;
  readonly currentNodeId: string | null;
  readonly tags: readonly string[];
  /** What the run works on, by its client's name. */
  readonly scopeId: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** When the run was taken over from elsewhere; null for a run of this store. */
  readonly importedAt: number | null;
}

/** A decision of one of several who have to decide. */
export interface Vote {
  readonly principal: string;
  readonly action: string;
}

/** One row of the inbox: an interrupt and whether it still waits. Rebuildable. */
export interface InterruptRecord {
  readonly runId: RunId;
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: string;
  readonly open: boolean;
  readonly requestedAt: number;
  /** seq of the row that asked it. */
  readonly seq: number;
  /** Cast so far; none once it is closed. */
  readonly votes: readonly Vote[];
}

export interface RunQuery {
  readonly tenant: string;
  readonly status?: RunStatus | undefined;
  readonly workflowId?: string | undefined;
  readonly tag?: string | undefined;
  readonly limit: number;
  /** Continue after this page; newest runs come first. */
  readonly cursor?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly RunRecord[];
  readonly nextCursor: string | null;
}

/** A question that waits, with the workflow of its run. */
export interface PendingInterrupt extends InterruptRecord {
  readonly workflowId: string;
}

export interface PendingQuery {
  readonly tenant: string;
  readonly limit: number;
  /** Continue after this page; those that wait longest come first. */
  readonly cursor?: string | undefined;
}

export interface PendingPage {
  /** May be fewer than asked for although more follow: what is looked at for one page is bounded. */
  readonly interrupts: readonly PendingInterrupt[];
  readonly nextCursor: string | null;
}
