/**
 * The event log. One `append` commits everything that must be consistent in one transaction.
 *
 * A *decision* is appended at an expected position and fails if another writer was first. A *fact* goes to the end and
 * is guarded by meaning. The *fence* is the number of the lease under which a node steps a run. It grows each time the
 * lease changes hands, so a node that lost its lease cannot write.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import type { IdempotencyWrite } from './idempotency.ts';
import type { NewRow, Row } from './rows.ts';
import type { RunFork, RunRecord } from './run-index.ts';

export type { RunFork } from './run-index.ts';

/** Acknowledged means durable: `append` resolves after the commit, never before. */
export interface EventLog {
  append(append: Append): Promise<Appended>;
  /**
   * Imports a run with all of its rows, or nothing. Fails with `conflict` when the run exists here or its context
   * belongs to another tenant, with `run_purged` when it was purged here, and with `bundle_invalid` when the rows do not
   * lead to its hash. Iterates the rows once, while writing them. Followers and readers of `ChangeLog` never see them.
   */
  importRun(run: ImportRun, rows: Iterable<NewRow>): Promise<void>;
  /**
   * Creates a run that shares the rows of another before a position; none is copied. Fails with `not_found` when the
   * source does not exist or is another tenant's, with `invalid_from_seq` when its log ends before the position, with
   * `replay_memory_snapshot_unavailable` when the source or rows that it shares were purged, and with `conflict` when
   * the run exists or its context cannot take it. The run is due at once, unless the shared rows end it.
   * Its `others` are forked in the same commit: all of them exist, or none.
   */
  fork(run: ForkRun): Promise<void>;
  /**
   * One page of rows in order. It ends with the row that takes its bodies past `maxBytes`, whatever the limit; an empty
   * page is the end of the range. A store loads no more than the page, and spreads the pages of many readers over turns
   * of the event loop, one tenant after the other. Fails with `run_purged` at rows that a fork shares and that were
   * purged, regardless of who may see them.
   */
  read(range: RunRows | ContextRows): Promise<readonly Row[]>;
  /** The number of rows of a run up to a cursor, which is the seq of the first row after it; 0 for an unknown run. */
  rowsUntil(runId: RunId, cursor: number): Promise<number>;
  /** Null for a run that was purged. */
  head(runId: RunId): Promise<RunHead | null>;
  /** What is left of a run that was purged; null for any other. */
  purged(runId: RunId): Promise<PurgedRun | null>;
  /**
   * Calls the listener after each commit of any run visible to this node. Returns the unsubscribe function. Commits of
   * other nodes come in groups while these are busy, and `interest` says which of them are needed.
   */
  follow(listener: (commit: Commit) => void, interest?: Interest): () => void;
}

/** What a listener needs of the commits of other nodes: without it all of them. It may be told of others too. */
export interface Interest {
  /** Whether a subscriber waits for the run or the context. Its commits are reported whole, and at once also under load. */
  readonly waits?: (of: Pick<Commit, 'runId' | 'contextId'>) => boolean;
  /** Types of rows of all other runs, which may come without the rest of their commits; null for whole commits. */
  readonly types?: () => Iterable<string> | null;
}

/** The content of one `append`. All of it becomes visible together, or none of it does. */
export interface Append {
  readonly runId: RunId;
  /** At least one, at most 1 MiB each (payload and task face together). */
  readonly rows: readonly NewRow[];
  /** Given exactly once, when the run is created. Fails with `conflict` when the run exists. */
  readonly create?: NewRun | undefined;
  /** Decisions: the seq of the first row; any other head is a `conflict`. Omitted for facts, which go to the end. */
  readonly at?: number | undefined;
  /** Facts: the interrupt that must be open, else `interrupt_already_resolved` (or `interrupt_not_found`). */
  readonly answers?: string | undefined;
  /** The lease of the writer; an older one fails with `lease_lost`. Omit it only for facts from outside. */
  readonly fence?: number | undefined;
  /** Takes the lease with this append if no live owner holds it (else `lease_held`). The result has the new fence. */
  readonly claim?: { readonly owner: string; readonly now: number; readonly until: number } | undefined;
  /** Releases the lease with this append. The run wakes at `wakeAt`; with null, only an answer wakes it. */
  readonly rest?: { readonly wakeAt: number | null } | undefined;
  /** Other runs to wake, e.g. the parent of a run that ends; or this run, for a fact from outside. */
  readonly wakes?: readonly { readonly runId: RunId; readonly at: number }[] | undefined;
  /**
   * Idempotency records of the requests that caused this append. Fails with `conflict` when the key is unclaimed and a
   * record exists, and with `idempotency_in_flight` when the owner lost its claim.
   */
  readonly idempotency?: readonly IdempotencyWrite[] | undefined;
  /**
   * Refuses the append with `quota_exceeded` if the tenant's events would take more bytes than this. Omitted for rows
   * that end a run, so that a run can end when its tenant has used its quota.
   */
  readonly maxTenantBytes?: number | undefined;
  /** With `create` and a scope: fails with `run_already_active` while another run of the tenant and scope is active. */
  readonly isAloneInScope?: boolean | undefined;
  /** With `create` and a context that a client named: fails with `not_found` when it is another tenant's. */
  readonly isNamedContext?: boolean | undefined;
}

export interface Appended {
  /** seq of the first row of this append. */
  readonly seq: number;
  /** cursor of the last row of this append. */
  readonly cursor: number;
  /** The fence after this append: the new one with `claim`, else the current one. */
  readonly fence: number;
}

/** Identity of a run that its event payloads do not hold; given once, with the first append. */
export interface NewRun {
  readonly tenant: string;
  readonly contextId: ContextId;
  /** The run whose id seeds the hash chain: the run itself, or the source run of a fork. */
  readonly originRunId: RunId;
  readonly parentRunId?: RunId | undefined;
}

/**
 * A run that begins as another one. Reads give the shared rows as its own, with its run and context and with the cursors
 * of the source; its own rows have later ones. `originRunId` is that of the source. Its context has no run of this origin
 * yet, so that no cursor stands in it twice.
 */
export interface ForkRun extends NewRun {
  readonly runId: RunId;
  readonly fork: RunFork;
  /** When it is created, and due. */
  readonly at: number;
  /**
   * Its first own rows, in the same commit, so that no holder ever steps a branch without them. `at` of a row may not be
   * before the last shared one.
   */
  readonly rows?: readonly NewRow[] | undefined;
  /** As in `Append`. */
  readonly idempotency?: readonly IdempotencyWrite[] | undefined;
  /** Forks of other runs of the same tree, each with an origin of its own; a parent comes before its children. */
  readonly others?: readonly OtherFork[] | undefined;
}

export type OtherFork = Omit<ForkRun, 'idempotency' | 'others'>;

/** The most runs whose rows one fork shares: a fork of a fork shares those of both. */
export const MAX_SHARED_RUNS = 1_000;

/** A run written on another host. It is read-only here: no append reaches it and nothing wakes it. */
export interface ImportRun extends NewRun {
  readonly runId: RunId;
  readonly importedAt: number;
  /** The seq and the hash of its last row, which the rows must lead to. */
  readonly seq: number;
  readonly hash: string;
}

/** A committed append as followers see it. Sent in commit order, once the rows are durable. */
export interface Commit {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly rows: readonly Row[];
}

/**
 * The bound of a page, in characters of row bodies; a store may count UTF-8 bytes instead. Reading, parsing and folding a
 * page of this size takes less than 20 ms, and a page is at most one event larger.
 */
export const MAX_PAGE_BYTES = 1_048_576;

/** The bound of a page that asks for this many bytes. */
export const pageBytes = (maxBytes = MAX_PAGE_BYTES): number => Math.min(maxBytes, MAX_PAGE_BYTES);

export interface RunRows {
  readonly runId: RunId;
  /** Rows with a greater seq; -1 for all. */
  readonly after: number;
  readonly limit: number;
  /** Excludes operator rows. */
  readonly audience?: 'client' | undefined;
  /** Reads only the fields that frames show. Task faces and hashes may be empty, which saves reading them. */
  readonly isForFrames?: boolean | undefined;
  /** Reads only what a fold needs. Task faces and hashes may be empty; a row without its face says its `bytes`. */
  readonly isForFolds?: boolean | undefined;
  /** Default, and the most: `MAX_PAGE_BYTES`. */
  readonly maxBytes?: number | undefined;
}

export interface ContextRows {
  readonly contextId: ContextId;
  /** Rows with a greater cursor; 0 for all. */
  readonly afterCursor: number;
  readonly limit: number;
  readonly audience?: 'client' | undefined;
  readonly maxBytes?: number | undefined;
  /** Leaves out imported runs: another host wrote their rows. */
  readonly isLocal?: boolean | undefined;
  /**
   * Reads only what task events show: payloads and hashes may be empty. Gives every row, whatever its audience: those
   * without a face too, so that a page always moves on. `face` says who may see a face.
   */
  readonly isForTasks?: boolean | undefined;
}

/** The identity of a purged run and the end of its hash chain. Its rows are tombstones, which no read returns. */
export interface PurgedRun {
  readonly runId: RunId;
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly originRunId: RunId;
  readonly parentRunId: RunId | null;
  /** The run that it was forked from; its chain begins there. */
  readonly fork: RunFork | null;
  readonly purgedAt: number;
  /** seq of the last row. */
  readonly seq: number;
  readonly hash: string;
}

export interface RunHead {
  readonly record: RunRecord;
  /** seq of the last row. */
  readonly seq: number;
  readonly hash: string;
  readonly fence: number;
  /** The lease holder; null when the run has none. */
  readonly owner: string | null;
}
