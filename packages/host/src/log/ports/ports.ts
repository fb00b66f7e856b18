/**
 * The three ports every store implements: the log, the queue, the records.
 *
 * They are written for a shared Postgres with many nodes as much as for one SQLite file: nothing here assumes that the
 * caller is the only writer, and everything that must be true together is one `append`, which commits it in one transaction.
 *
 * Glossary: a *row* is a stored event. A *decision* is appended at an expected position and loses to whoever was there
 * first; a *fact* goes to the end and is guarded by meaning. The *fence* is the number of the lease under which a node
 * steps a run: it grows each time the lease changes hands, so a node that lost its lease cannot write.
 */
import type { Audience, Cause, ContextId, RunId, RunStatus } from '@cairn/protocol';
import type { IdempotencyClaim, IdempotencyRecord } from './idempotency-record.ts';
import type { Remembered, RememberedEntry, RememberedQuery } from './remembered.ts';

export type { RememberedEntry, RememberedQuery };

/** A row to be written. The store adds seq, cursor and hashes. Bodies are JSON text, serialised once by the writer. */
export interface NewRow {
  /** Instant in ms by the writer's clock; never decreasing within a run (a fact that comes late is moved up by the store). */
  readonly at: number;
  readonly type: string;
  readonly nodeId?: string | undefined;
  readonly cause?: Cause | undefined;
  readonly audience: Audience;
  readonly payload: string;
  /** The task face: the body of the task event this row shows as, or null when the task view does not show it. */
  readonly task: string | null;
}

/** A row as stored. Nothing in it is parsed on the way out. */
export interface Row {
  readonly runId: RunId;
  readonly seq: number;
  readonly contextId: ContextId;
  readonly cursor: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Cause | null;
  readonly audience: Audience;
  readonly payload: string;
  readonly task: string | null;
  readonly rowHash: string;
  readonly hash: string;
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

/** The outcome of a request, and who has it in hand; null when nobody took it, because whatever comes second is refused. */
export interface Settlement {
  readonly record: IdempotencyRecord;
  readonly owner: string | null;
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
  /** Outcomes of the requests that caused this: `conflict` when a record stands for the key of one that nobody took in hand, `idempotency_in_flight` when one is no longer in its owner's. */
  readonly outcomes?: readonly Settlement[] | undefined;
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

/** Rows of all runs, in an order that keeps each run's own; for readers that must not miss one, whatever happens to them. */
export interface Changes {
  /** Leaves out imported runs: they did not happen here. */
  readonly rows: readonly Row[];
  /** Where to go on; the same as was asked for when nothing was added. Only its store knows what it means. */
  readonly position: string;
}

/** Rows of one tenant that its clients may see, of some types. */
export interface ChosenRows {
  readonly tenant: string;
  readonly types: readonly string[];
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

/** The log. Acknowledged means durable: `append` resolves after the commit, never before. */
export interface EventLog {
  append(append: Append): Promise<Appended>;
  read(range: RunRows | ContextRows): Promise<readonly Row[]>;
  /** Called after each commit of any run this node can see; returns the way to stop. */
  follow(listener: (commit: Commit) => void): () => void;
  /** Up to `limit` rows after a position. No row ever turns up before a position that was given out. */
  changes(range: {
    readonly after: string;
    readonly limit: number;
    readonly maxBytes?: number | undefined;
    /** Only these; the position still moves past the others, and `limit` bounds how many are looked at. */
    readonly only?: ChosenRows | undefined;
  }): Promise<Changes>;
  /** The position at the end of the log as it is now. */
  end(): Promise<string>;
  head(runId: RunId): Promise<RunHead | null>;
  /** Whose context it is: that of the tenant whose runs are in it. Null when no run is. */
  contextTenant(contextId: ContextId): Promise<string | null>;
  list(query: RunQuery): Promise<RunPage>;
  interrupts(runId: RunId): Promise<readonly InterruptRecord[]>;
  /** What a tenant's runs wait for; imported runs wait for nothing here. */
  pending(query: PendingQuery): Promise<PendingPage>;
  /**
   * Takes over a run, all of its rows or nothing: `conflict` when the run exists here or its context is another tenant's,
   * `bundle_invalid` when the rows do not lead to its hash. The rows are drawn once, as they are written; nobody is told.
   */
  importRun(run: ImportRun, rows: Iterable<NewRow>): Promise<void>;
  /** Recompute run list, inbox and memories from the rows; gives the number of runs of which something was wrong. */
  rebuild(): Promise<{ readonly runs: number; readonly repaired: number }>;
}

export interface Claim {
  readonly runId: RunId;
  readonly fence: number;
}

export interface Census {
  readonly active: number;
  readonly due: number;
}

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

export interface WorkflowRecord {
  readonly tenant: string;
  readonly workflowId: string;
  readonly version: string;
  readonly hash: string;
  readonly registeredAt: number;
}

export interface Checkpoint {
  readonly runId: RunId;
  /** The state after this row. */
  readonly seq: number;
  /** What wrote it; a state of another format is ignored. */
  readonly format: string;
  readonly body: string;
}

/** Somebody outside who is told of a tenant's events: what was agreed, and how far the telling got. Both are JSON of the teller. */
export interface SubscriptionRecord {
  readonly id: string;
  readonly tenant: string;
  readonly kind: string;
  readonly body: string;
  readonly state: string;
}

/** A version of a pack that a tenant installed. The body is JSON of the registry. */
export interface PackRecord {
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  /** What the pack is by content. */
  readonly hash: string;
  readonly installedAt: number;
  readonly body: string;
}

/** Records beside the log: content-addressed definitions, workflow names, checkpoints of folded state, idempotency, memories. */
export interface Records extends Remembered {
  /** Idempotent: the hash is of the body. */
  putDefinition(hash: string, body: string): Promise<void>;
  definition(hash: string): Promise<string | null>;
  /** Name a definition. `conflict` when the version exists with another hash. */
  putWorkflow(record: WorkflowRecord): Promise<void>;
  /** One version, or without one the version registered last. */
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowRecord | null>;
  /** The version registered last of each workflow, by id. */
  workflows(tenant: string): Promise<readonly WorkflowRecord[]>;
  /** Keeps only the newest of a run. */
  putCheckpoint(checkpoint: Checkpoint): Promise<void>;
  checkpoint(runId: RunId): Promise<Checkpoint | null>;
  /** Where a reader of the whole log had got to; null when it never said. */
  mark(reader: string): Promise<string | null>;
  putMark(reader: string, position: string): Promise<void>;
  /** `conflict` when the id is taken. */
  putSubscription(record: SubscriptionRecord): Promise<void>;
  /** All of this kind, in the order they were put. */
  subscriptions(kind: string): Promise<readonly SubscriptionRecord[]>;
  /** Nothing when the subscription is gone meanwhile. */
  saveSubscriptionState(id: string, state: string): Promise<void>;
  /** Whether it was there. */
  dropSubscription(tenant: string, id: string): Promise<boolean>;
  /** Install a pack, in the place of its other versions. `conflict` when the version was ever there with another hash. */
  putPack(record: PackRecord): Promise<void>;
  /** The version installed last of each pack that was not removed, by name. */
  packs(tenant: string): Promise<readonly PackRecord[]>;
  /** Remove a pack, in all versions; whether it was there. */
  dropPack(tenant: string, name: string): Promise<boolean>;
  idempotency(tenant: string, endpoint: string, key: string): Promise<IdempotencyRecord | null>;
  /** Take a request in hand: null when it is the caller's now, else the record that stands in the way. */
  claimIdempotency(claim: IdempotencyClaim): Promise<IdempotencyRecord | null>;
  /** Keep an outcome: the owner's own if it still has the request in hand, or without an owner if none stands. Else nothing. */
  settleIdempotency(record: IdempotencyRecord, owner: string | null): Promise<void>;
  /** Forget a request the owner has in hand, as if it had never been sent. */
  dropIdempotency(claim: IdempotencyClaim): Promise<void>;
  /** Forget idempotency records written before this instant. */
  expireIdempotency(before: number): Promise<number>;
}

export interface Store {
  readonly log: EventLog;
  readonly queue: Queue;
  readonly records: Records;
  /** Waits for appends that were accepted, then lets go of every resource. */
  close(): Promise<void>;
}

/** Largest event: payload and task face together, in UTF-8 bytes. */
export const MAX_EVENT_BYTES = 1_048_576;
