/** State shared by the ports of the in-memory store: runs with their rows, sessions, and records that appends write. */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import { quotaExceeded, storeClosed } from '../errors.ts';
import type { Checkpoint } from '../ports/checkpoints.ts';
import type { Payer } from '../ports/definitions.ts';
import type { PurgedRun } from '../ports/event-log.ts';
import type { IdempotencyKey, IdempotencyRecord } from '../ports/idempotency.ts';
import { rowBytes } from '../ports/row-bytes.ts';
import type { Row } from '../ports/rows.ts';
import type { InterruptRecord } from '../ports/run-index.ts';
import { BlobTable } from './blob-table.ts';
import { MemoryTable } from './memory-table.ts';
import type { StoredRun } from './stored-run.ts';

/** A purged run, and its own rows, which become tombstones. */
export interface RetiredRun {
  readonly run: PurgedRun;
  readonly rows: Row[];
  isFinished: boolean;
}

export class Tables {
  /** The runs of each context, in creation order. */
  readonly contexts = new Map<ContextId, StoredRun[]>();
  /** Rows of all local runs, in cursor order. Rows of imported runs are left out. */
  readonly rows: Row[] = [];
  /** When the session of each owner ends. */
  readonly sessions = new Map<string, number>();
  /** Every interrupt of local runs, in request order. */
  readonly interrupts: Pick<InterruptRecord, 'runId' | 'interruptId'>[] = [];
  readonly idempotency = new Map<string, IdempotencyRecord>();
  /** The run that a request changed, by the id of its idempotency record. */
  readonly requestRuns = new Map<string, RunId>();
  /** Oldest first. */
  readonly checkpoints = new Map<RunId, readonly Checkpoint[]>();
  readonly purged = new Map<RunId, RetiredRun>();
  readonly blobs = new BlobTable();
  /** Bytes of the events of each tenant. */
  readonly logBytes = new Map<string, number>();
  readonly memories: MemoryTable;
  /** The last assigned cursor. */
  cursor = 0;
  readonly #runs = new Map<RunId, StoredRun>();
  #places = 0;
  #isClosed = false;

  constructor() {
    this.memories = new MemoryTable(this.#runs);
  }

  /** Runs by id, in creation order. Throws once the store is closed. */
  runs(): Map<RunId, StoredRun> {
    this.assertOpen();
    return this.#runs;
  }

  /** The place of a new run. */
  nextPlace(): number {
    this.#places += 1;
    return this.#places;
  }

  run(runId: RunId): StoredRun {
    const run = this.#runs.get(runId);
    invariant(run !== undefined, 'row-has-run', { runId });
    return run;
  }

  /** Adds a run that is new. */
  add(run: StoredRun): void {
    const { runId, contextId } = run.head.record;
    this.#runs.set(runId, run);
    this.contexts.set(contextId, [...(this.contexts.get(contextId) ?? []), run]);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  close(): void {
    this.#isClosed = true;
  }

  isAlive(owner: string, now: number): boolean {
    return (this.sessions.get(owner) ?? 0) > now;
  }

  /** Bytes of the tenant's events and blobs. */
  tenantBytes(tenant: string): number {
    return (this.logBytes.get(tenant) ?? 0) + this.blobs.bytesOf(tenant);
  }

  addLogBytes(tenant: string, rows: readonly Row[]): void {
    let bytes = this.logBytes.get(tenant) ?? 0;
    for (const row of rows) bytes += rowBytes(row);
    this.logBytes.set(tenant, bytes);
  }

  /** Counts bytes that are no rows. Throws `quota_exceeded`. */
  pay({ tenant, maxTenantBytes }: Payer, bytes: number): void {
    const used = this.tenantBytes(tenant);
    if (maxTenantBytes !== undefined && used + bytes > maxTenantBytes)
      throw quotaExceeded(tenant, used, maxTenantBytes);
    this.logBytes.set(tenant, (this.logBytes.get(tenant) ?? 0) + bytes);
  }

  /** Never shortens a session. */
  extendSession(owner: string, until: number): void {
    this.sessions.set(owner, Math.max(until, this.sessions.get(owner) ?? 0));
  }
}

/** Joins the three parts as JSON, because each may hold any character. */
export const idempotencyId = ({ tenant, endpoint, key }: IdempotencyKey): string =>
  JSON.stringify([tenant, endpoint, key]);
