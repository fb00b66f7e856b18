/** Executes appends in a transaction: checks guards on cached heads, then writes rows, index, wakes and results. */
import type { DatabaseSync } from 'node:sqlite';
import { type CairnError, type ContextId, isCairnError, type RunId } from '@cairn/protocol';
import { type AdmittedAppend, admit, admitImported, type GuardQueries, importedHead, woken } from '../../admit.ts';
import type { NewestPieces } from '../../artifact-changes.ts';
import { chunksOf } from '../../chunks-of.ts';
import { idempotencyRefused, importMismatch, runExists } from '../../errors.ts';
import type { Followers } from '../../feed/followers.ts';
import { isIndexDue } from '../../index-checkpoint.ts';
import type { Append, Appended, Commit, ImportRun } from '../../ports/event-log.ts';
import { maySave } from '../../ports/idempotency.ts';
import { bytesOf, rowBytes } from '../../ports/row-bytes.ts';
import type { NewRow, Row } from '../../ports/rows.ts';
import { LARGE_VALUE_CHARS } from '../../values/cut-values.ts';
import { ArtifactTables } from '../artifacts/artifact-tables.ts';
import type { BlobTables } from '../blobs/blob-tables.ts';
import type { Work } from '../commit/job.ts';
import type { ContextSegments } from '../contexts/segments.ts';
import { IndexCheckpoints } from '../forks/index-checkpoints.ts';
import { MemoryTables } from '../memories/memory-tables.ts';
import { cursorEnd, importGuard } from '../retention/purged-runs.ts';
import type { TenantBytes } from '../run-index/tenant-usage.ts';
import type { Sessions } from '../sessions.ts';
import { ValueWriter } from '../values/large-values.ts';
import { type AppendStatements, appendStatements } from './append-statements.ts';
import { AppendWork } from './append-work.ts';
import type { CachedHead, HeadCache } from './head-cache.ts';
import type { RunWriter } from './run-writer.ts';

/** Rows of an import held in memory at once. */
const IMPORT_CHUNK = 200;

export interface AppenderPorts {
  readonly heads: HeadCache;
  readonly runs: RunWriter;
  readonly sessions: Sessions;
  readonly followers: Followers;
  readonly usage: TenantBytes;
  readonly segments: ContextSegments;
  readonly blobs: BlobTables;
}

export class Appender implements GuardQueries {
  readonly #heads: HeadCache;
  readonly #sessions: Sessions;
  readonly #followers: Followers;
  readonly #statements: AppendStatements;
  readonly #memories: MemoryTables;
  readonly #runs: RunWriter;
  readonly #indexes: IndexCheckpoints;
  readonly #values: ValueWriter;
  readonly #usage: TenantBytes;
  readonly #segments: ContextSegments;
  readonly #blobs: BlobTables;
  readonly #artifacts: ArtifactTables;
  readonly #refuseImport: (run: ImportRun) => void;
  readonly #db: DatabaseSync;
  /** The last assigned cursor; null after a failed transaction, which leaves no gap. */
  #cursor: number | null = null;
  readonly #cursorEnd: () => number;
  #written = 0;

  constructor(db: DatabaseSync, ports: AppenderPorts) {
    this.#heads = ports.heads;
    this.#runs = ports.runs;
    this.#indexes = new IndexCheckpoints(db);
    this.#sessions = ports.sessions;
    this.#followers = ports.followers;
    this.#db = db;
    this.#statements = appendStatements(db);
    this.#memories = new MemoryTables(db);
    this.#values = new ValueWriter(db);
    this.#usage = ports.usage;
    this.#segments = ports.segments;
    this.#blobs = ports.blobs;
    this.#artifacts = new ArtifactTables(db);
    this.#refuseImport = importGuard(db);
    this.#cursorEnd = cursorEnd(db);
  }

  get cursor(): number {
    this.#cursor ??= this.#cursorEnd();
    return this.#cursor;
  }

  /** Discards what memory holds of a transaction that failed. No reader has seen its cursors. */
  rolledBack(): void {
    for (const cache of [this.#heads, this.#usage, this.#segments, this.#blobs]) cache.clear();
    this.#cursor = null;
  }

  /** Rows committed since the store was opened. */
  get written(): number {
    return this.#written;
  }

  isAlive(owner: string, now: number): boolean {
    return this.#sessions.isAlive(owner, now);
  }

  wasRequested(runId: RunId, interruptId: string): boolean {
    const entry = this.#heads.get(runId);
    if (entry === null) return false;
    return entry.stretches.some(
      ({ owner, through }) => this.#statements.interrupt.get(owner, interruptId, through) !== undefined,
    );
  }

  tenantBytes(tenant: string): number {
    return this.#usage.of(tenant) + this.#blobs.bytesOf(tenant);
  }

  hasBlob(tenant: string, sha256: string): boolean {
    return this.#blobs.has(tenant, sha256);
  }

  newestPieces(contextId: ContextId, artifactId: string): NewestPieces | null {
    return this.#artifacts.newestPieces(contextId, artifactId, this.#heads);
  }

  contextTenant(contextId: ContextId): string | null {
    return this.#statements.contextTenant(contextId);
  }

  /** A run that looks active in the table may have ended earlier in this transaction, so the cached head decides. */
  activeRun(tenant: string, scopeId: string): RunId | null {
    for (const [runId] of this.#statements.inScope.iterate(tenant, scopeId)) {
      if (this.#heads.get(runId)?.head.record.endedAt === null) return runId;
    }
    return null;
  }

  work(append: Append): Work<Appended> {
    return new AppendWork(this, append);
  }

  tenantOf(runId: RunId): string | undefined {
    return this.#heads.tenantOf(runId);
  }

  /** Checks every guard. Throws on failure, changing nothing. */
  admit(append: Append): { readonly entry: CachedHead | null; readonly admitted: AdmittedAppend } {
    this.#usage.load();
    const entry = this.#heads.get(append.runId);
    const admitted = admit(append, entry?.head ?? null, this.cursor, this);
    for (const one of append.idempotency ?? [])
      if (!maySave(this.#statements.record(one.record), one.owner)) throw idempotencyRefused(one);
    return { entry, admitted };
  }

  tell(commit: Commit): void {
    this.#written += commit.rows.length;
    this.#followers.tell(commit);
  }

  write(
    append: Append,
    entry: CachedHead | null,
    { head, rows, interrupts, memories, artifacts, blobs }: AdmittedAppend,
  ): Appended {
    const { runId, claim } = append;
    const { key } = entry ?? this.#runs.create(runId, head);
    // Read before the entry gets the new head.
    if (isIndexDue(entry?.head.seq ?? -1, head)) this.#indexes.put(key, head.seq, head);
    if (entry !== null) this.#heads.set(entry, head);
    for (const row of rows) this.#insert(key, row);
    this.#usage.add(head.record.tenant, bytesOf(append.rows), rows.length);
    this.#note(key, rows);
    for (const interrupt of interrupts) this.#runs.interrupt(key, interrupt, head.record);
    for (const change of memories) this.#memories.apply(head.record.tenant, key, change);
    if (blobs.length > 0) this.#blobs.name(head.record.tenant, key, blobs);
    if (artifacts.length > 0) this.#artifacts.apply({ context: head.record.contextId, run: key }, artifacts);
    if (claim !== undefined) this.#sessions.extend(claim.owner, claim.until);
    for (const wake of append.wakes ?? []) this.#wake(wake.runId, wake.at);
    for (const { record } of append.idempotency ?? []) this.#statements.saveRecord(record, key);
    const cursor = this.cursor + rows.length;
    this.#cursor = cursor;
    return { seq: head.seq - rows.length + 1, cursor, fence: head.fence };
  }

  /** Returns the error for rows found invalid while writing. Other work in the same transaction is unaffected. */
  importWork(run: ImportRun, rows: Iterable<NewRow>): Work<CairnError | null> {
    return {
      rows: IMPORT_CHUNK,
      bytes: 0,
      prepare: () => {
        this.#usage.load();
        if (this.#heads.get(run.runId) !== null) throw runExists(run.runId);
        this.#refuseImport(run);
      },
      apply: () => {
        this.#db.exec('SAVEPOINT import');
        try {
          this.#import(run, rows);
          return null;
        } catch (error) {
          if (!isCairnError(error)) throw error;
          this.#db.exec('ROLLBACK TO import');
          this.#heads.forget(run.runId);
          this.#usage.clear();
          this.#segments.clear();
          this.#cursor = null;
          return error;
        } finally {
          if (this.#db.isTransaction) this.#db.exec('RELEASE import');
        }
      },
    };
  }

  #import(run: ImportRun, rows: Iterable<NewRow>): void {
    let head = importedHead(run, run.importedAt);
    let key: number | null = null;
    for (const chunk of chunksOf(rows, IMPORT_CHUNK)) {
      const [first] = chunk;
      if (key === null && first !== undefined) head = importedHead(run, first.at);
      const admitted = admitImported(head, chunk, this.cursor, this);
      head = admitted.head;
      key ??= this.#runs.create(run.runId, head).key;
      let bytes = 0;
      for (const row of admitted.rows) {
        this.#insert(key, row);
        bytes += rowBytes(row);
      }
      this.#usage.add(run.tenant, bytes, chunk.length);
      this.#note(key, admitted.rows);
      for (const interrupt of admitted.interrupts) this.#runs.interrupt(key, interrupt, head.record);
      this.#blobs.name(run.tenant, key, admitted.blobs);
      this.#artifacts.apply({ context: run.contextId, run: key }, admitted.artifacts);
      this.#cursor = this.cursor + chunk.length;
    }
    if (head.seq !== run.seq || head.hash !== run.hash) throw importMismatch(run, head);
    const entry = this.#heads.get(run.runId);
    if (entry !== null) this.#heads.set(entry, head);
  }

  #note(run: number, rows: readonly Row[]): void {
    const [first] = rows;
    if (first !== undefined) this.#segments.note(first.contextId, run, first);
  }

  #insert(run: number, row: Row): void {
    const audience = row.audience === 'client' ? 0 : 1;
    const { cursor, seq, at, type, nodeId, cause, payload, task, rowHash, hash, face } = row;
    const { insert, insertCut } = this.#statements;
    // Values are listed one by one: spreading them would allocate a list for every row. `get` because `run` makes an object
    // with the changes, which takes 7 % of the insert.
    if (payload.length < LARGE_VALUE_CHARS && (task === null || task.length < LARGE_VALUE_CHARS)) {
      insert.get(cursor, run, seq, at, type, nodeId, cause, audience, payload, task, rowHash, hash, face);
      return;
    }
    const kept = this.#values.keep(run, payload, task);
    const { cuts } = kept;
    const place = [cursor, run, seq, at, type, nodeId, cause, audience] as const;
    insertCut.run(...place, kept.payload, kept.task, rowHash, hash, face, cuts, rowBytes(row));
  }

  #wake(runId: RunId, at: number): void {
    const entry = this.#heads.get(runId);
    if (entry !== null) this.#heads.set(entry, woken(entry.head, at));
  }
}
