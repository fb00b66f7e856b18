/** The run index: the run list and the inbox. Both are folds of the rows and can be rebuilt. */
import type { ContextId, RunId, RunStatus } from '@cairn/protocol';

export interface RunIndex {
  list(query: RunQuery): Promise<RunPage>;
  /** The status that the list shows for each of these runs. A run that does not exist is left out. */
  shown(runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, RunStatus>>;
  /** How many child runs each of these runs has, at most `MAX_CHILD_COUNT`. A run without any is left out. */
  childCounts(runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, number>>;
  /** Every interrupt of a run, in request order. */
  interrupts(runId: RunId): Promise<readonly InterruptRecord[]>;
  /** The open interrupts of a tenant's runs. Imported runs have none. */
  pending(query: PendingQuery): Promise<PendingPage>;
  /** The bytes of a tenant's events in the log, as `rowBytes` counts them. */
  tenantLogBytes(tenant: string): Promise<number>;
  /** Rebuilds run list, inbox and memories from the rows. Returns the number of runs that were wrong. */
  rebuild(): Promise<Rebuilt>;
}

/** Counting stops here, so that a page of large families stays cheap. */
export const MAX_CHILD_COUNT = 100;

export interface Rebuilt {
  readonly runs: number;
  readonly repaired: number;
}

/** One row of the run list: the run's identity and a pure fold of its rows (see `fold-run-index.ts`). */
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
  /** The client's name for the resource that the run works on. */
  readonly scopeId: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** When the run was imported; null for a local run. */
  readonly importedAt: number | null;
  /** Where the run was cut off another; null for a run that began by itself. */
  readonly fork: RunFork | null;
  readonly summary: RunSummary;
}

/** What a row of the run list says of a run, so that a list needs no other read (see `run-summary.ts`). */
export interface RunSummary {
  /** One line of at most 160 characters; null for a run that says nothing of itself. */
  readonly title: string | null;
  /** The input that gave the title, which a fork may change. */
  readonly titleInput: string | null;
  /** The agents that work or worked in the run, by id, in the order in which they began; at most 8. */
  readonly agents: readonly string[];
  /** The words of its oldest open question. */
  readonly waitingOn: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** Where a run was cut off another. */
export interface RunFork {
  readonly sourceRunId: RunId;
  /** The first seq that is its own. */
  readonly fromSeq: number;
  /** A `replay` only repeats what is recorded: it keeps no memories and asks no question. A `branch` goes on live. */
  readonly mode: 'replay' | 'branch';
}

/** The decision of one approver on an interrupt that needs several. */
export interface Vote {
  readonly principal: string;
  readonly action: string;
}

/** One row of the inbox: an interrupt and whether it is still open. */
export interface InterruptRecord {
  readonly runId: RunId;
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: string;
  /** The question in one line of at most 160 characters. */
  readonly title: string;
  readonly open: boolean;
  readonly requestedAt: number;
  /** seq of the row that requested it. */
  readonly seq: number;
  /** Votes so far; empty once the interrupt is closed. */
  readonly votes: readonly Vote[];
}

export interface RunQuery {
  readonly tenant: string;
  readonly status?: RunStatus | undefined;
  readonly workflowId?: string | undefined;
  readonly tag?: string | undefined;
  /** Only the child runs of this run, or with null only runs that have no parent here. Never together with another filter. */
  readonly parentRunId?: RunId | null | undefined;
  readonly limit: number;
  /** Continues after this page; newest runs come first. */
  readonly cursor?: string | undefined;
}

/** A run in the list. */
export interface ListedRun extends RunRecord {
  /** A running run whose child waits shows what its oldest waiting child waits for. Filters by status use this one. */
  readonly shownStatus: RunStatus;
}

export interface RunPage {
  /** May hold fewer than the limit although more follow: a page is bounded in bytes. */
  readonly runs: readonly ListedRun[];
  readonly nextCursor: string | null;
}

/** An open interrupt, with the workflow of its run. */
export interface PendingInterrupt extends InterruptRecord {
  readonly workflowId: string;
}

export interface PendingQuery {
  readonly tenant: string;
  readonly limit: number;
  /** Continues after this page; oldest interrupts come first. */
  readonly cursor?: string | undefined;
}

export interface PendingPage {
  readonly interrupts: readonly PendingInterrupt[];
  readonly nextCursor: string | null;
}
