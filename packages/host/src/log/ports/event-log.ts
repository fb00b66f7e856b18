/**
 * The event log. Everything that must be true together is one `append`, which commits it in one transaction.
 *
 * A *decision* is appended at an expected position and loses to whoever was there first; a *fact* goes to the end and is
 * guarded by meaning. The *fence* is the number of the lease under which a node steps a run: it grows each time the lease
 * changes hands, so a node that lost its lease cannot write.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import type { IdempotencyWrite } from './idempotency.ts';
import type { NewRow, Row } from './rows.ts';
import type { RunRecord } from './run-index.ts';

/** Acknowledged means durable: `append` resolves after the commit, never before. */
export interface EventLog {
  append(append: Append): Promise<Appended>;
  /**
   * Imports a run, all of its rows or nothing: `conflict` when the run exists here or its context is another tenant's,
   * `bundle_invalid` when the rows do not lead to its hash. The rows are drawn once, as they are written. Followers and
   * `changes` never see them.
   */
  importRun(run: ImportRun, rows: Iterable<NewRow>): Promise<void>;
  read(range: RunRows | ContextRows): Promise<readonly Row[]>;
  head(runId: RunId): Promise<RunHead | null>;
  /** The tenant of the runs in a context; null when the context has no run. */
  contextTenant(contextId: ContextId): Promise<string | null>;
  /** Calls the listener after each commit of any run this node can see; returns the function that stops it. */
  follow(listener: (commit: Commit) => void): () => void;
  /** Up to `limit` rows after a position. No row ever appears before a position that was returned. */
  changes(range: ChangesRange): Promise<Changes>;
  /** The position at the end of the log as it is now. */
  end(): Promise<string>;
}

/** What one `append` commits. Everything in it becomes visible together, or nothing does. */
export interface Append {
  readonly runId: RunId;
  /** At least one, at most 1 MiB each (payload and task face together). */
  readonly rows: readonly NewRow[];
  /** Given exactly once in a run's life. Fails with `conflict` when the run exists. */
  readonly create?: NewRun | undefined;
  /** Decisions: the seq the first row must get; another head is a `conflict`. Left out for facts: they go to the end. */
  readonly at?: number | undefined;
  /** Facts: the interrupt that must be open, else `interrupt_already_resolved` (or `interrupt_not_found`). */
  readonly answers?: string | undefined;
  /** The lease under which this is written; an older one is `lease_lost`. Leave out only for facts from outside. */
  readonly fence?: number | undefined;
  /** Take the lease with this append when nobody alive holds it (else `lease_held`); the answer carries the new fence. */
  readonly claim?: { readonly owner: string; readonly now: number; readonly until: number } | undefined;
  /** Give the lease back with this append, and be woken at `wakeAt` (null: only an answer wakes the run). */
  readonly rest?: { readonly wakeAt: number | null } | undefined;
  /** Other runs to wake, e.g. the parent of a run that ends; or this one, for a fact from outside. */
  readonly wakes?: readonly { readonly runId: RunId; readonly at: number }[] | undefined;
  /**
   * Idempotency records of the requests that caused this append. `conflict` when nobody claimed the key and a record
   * exists; `idempotency_in_flight` when the owner lost its claim.
   */
  readonly idempotency?: readonly IdempotencyWrite[] | undefined;
  /** With `create`, of a run with a scope: `run_already_active` while another run of its tenant and scope has not ended. */
  readonly isAloneInScope?: boolean | undefined;
}

export interface Appended {
  /** seq of the first row of this append. */
  readonly seq: number;
  /** cursor of the last row of this append. */
  readonly cursor: number;
  /** The fence after this append: the new one with `claim`, else the run's current one. */
  readonly fence: number;
}

/** Identity of a run that is not in its events' payloads; given once, with the first append. */
export interface NewRun {
  readonly tenant: string;
  readonly contextId: ContextId;
  /** The run whose id seeds the hash chain: itself, or for a fork the run it was forked from. */
  readonly originRunId: RunId;
  readonly parentRunId?: RunId | undefined;
}

/** A run that was written elsewhere. It is kept as it is and never goes on here: no append reaches it, nothing wakes it. */
export interface ImportRun extends NewRun {
  readonly runId: RunId;
  readonly importedAt: number;
  /** The place and the hash of its last row, which the rows must lead to. */
  readonly seq: number;
  readonly hash: string;
}

/** What a committed append looks like to those who follow. Sent only once the rows are durable, in commit order. */
export interface Commit {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly rows: readonly Row[];
}

export interface RunRows {
  readonly runId: RunId;
  /** Rows with a greater seq; -1 for all. */
  readonly after: number;
  readonly limit: number;
  /** Leave operator rows out. */
  readonly audience?: 'client' | undefined;
  /** Only what a frame shows is wanted: task faces and hashes may be left empty, which spares reading them. */
  readonly isForFrames?: boolean | undefined;
  /** Stop after the row whose body takes the page past this many characters; at least one row is given. */
  readonly maxBytes?: number | undefined;
}

export interface ContextRows {
  readonly contextId: ContextId;
  /** Rows with a greater cursor; 0 for all. */
  readonly afterCursor: number;
  readonly limit: number;
  readonly audience?: 'client' | undefined;
  readonly maxBytes?: number | undefined;
}

/** A range of the rows of all runs, for readers that must not miss a row, whatever happens to them. */
export interface ChangesRange {
  readonly after: string;
  readonly limit: number;
  readonly maxBytes?: number | undefined;
  /**
   * Return only these rows. The position still moves past the others, and `limit` bounds the rows that are scanned.
   * Null returns the rows of all tenants. It is never left out, so that nobody reads them all by mistake.
   */
  readonly filter: RowFilter | null;
}

/** Rows of one tenant that its clients may see, of some types. */
export interface RowFilter {
  readonly tenant: string;
  readonly types: readonly string[];
}

/** The order keeps that of each run. */
export interface Changes {
  /** Rows of imported runs are left out: they were not written here. */
  readonly rows: readonly Row[];
  /** Where to continue; the position that was asked for when nothing was added. Opaque outside the store. */
  readonly position: string;
}

export interface RunHead {
  readonly record: RunRecord;
  /** seq of the last row. */
  readonly seq: number;
  readonly hash: string;
  readonly fence: number;
  /** Who holds the lease; null when nobody does. */
  readonly owner: string | null;
}
