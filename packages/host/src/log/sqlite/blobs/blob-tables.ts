/** Blobs in SQLite, and the references of runs to them. Every method runs within a transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { invariant } from '@cairn/protocol';
import { UNNAMED_BLOB_MS } from '../../ports/blobs.ts';
import { type Query, query } from '../query.ts';
import { BlobUsage } from './blob-usage.ts';

/** By tenant and sha256. */
export const BLOB_BODY = 'SELECT body FROM blobs JOIN blob_bodies ON blob = key WHERE tenant = ? AND sha256 = ?';

/** Blobs that one step removes: at most 1 MiB, about 2 ms. */
const STEP_BLOBS = 4;

/** References that one step removes when their blobs stay. */
const STEP_REFS = 64;

export interface StoredBlob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export class BlobTables {
  readonly #usage: BlobUsage;
  readonly #find: Query<[key: number]>;
  readonly #add: StatementSync;
  readonly #addBody: StatementSync;
  readonly #touch: StatementSync;
  readonly #addRef: StatementSync;
  readonly #count: StatementSync;
  readonly #refs: Query<[blob: number, tenant: string, bytes: number, refs: number, putAt: number]>;
  readonly #dropRef: StatementSync;
  readonly #drop: StatementSync;
  readonly #dropBody: StatementSync;
  readonly #unnamed: Query<[blob: number, tenant: string, bytes: number]>;

  constructor(db: DatabaseSync) {
    this.#usage = new BlobUsage(db);
    this.#find = query(db, 'SELECT key FROM blobs WHERE tenant = ? AND sha256 = ?');
    this.#add = db.prepare('INSERT INTO blobs (tenant, sha256, bytes, put_at, refs) VALUES (?, ?, ?, ?, 0)');
    this.#addBody = db.prepare('INSERT INTO blob_bodies VALUES (?, ?)');
    this.#touch = db.prepare('UPDATE blobs SET put_at = max(put_at, ?) WHERE key = ?');
    this.#addRef = db.prepare('INSERT INTO blob_refs VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#count = db.prepare('UPDATE blobs SET refs = refs + ? WHERE key = ?');
    this.#refs = query(
      db,
      `SELECT b.key, b.tenant, b.bytes, b.refs, b.put_at FROM blob_refs r CROSS JOIN blobs b ON b.key = r.blob
         WHERE r.run = ? LIMIT ${STEP_REFS}`,
    );
    this.#dropRef = db.prepare('DELETE FROM blob_refs WHERE run = ? AND blob = ?');
    this.#drop = db.prepare('DELETE FROM blobs WHERE key = ?');
    this.#dropBody = db.prepare('DELETE FROM blob_bodies WHERE blob = ?');
    this.#unnamed = query(
      db,
      `SELECT key, tenant, bytes FROM blobs INDEXED BY blobs_unnamed WHERE refs = 0 AND put_at < ? LIMIT ${STEP_BLOBS}`,
    );
  }

  bytesOf(tenant: string): number {
    return this.#usage.of(tenant);
  }

  /** After a transaction was rolled back. */
  clear(): void {
    this.#usage.clear();
  }

  has(tenant: string, sha256: string): boolean {
    return this.#find.get(tenant, sha256) !== undefined;
  }

  put(tenant: string, { sha256, bytes }: StoredBlob, at: number): void {
    const known = this.#find.get(tenant, sha256)?.[0];
    if (known !== undefined) {
      this.#touch.run(at, known);
      return;
    }
    const { lastInsertRowid } = this.#add.run(tenant, sha256, bytes.length, at);
    this.#addBody.run(lastInsertRowid, bytes);
    this.#usage.add(tenant, bytes.length);
  }

  /** Notes that rows of a run name these blobs. `run` is the run's key in this database. */
  name(tenant: string, run: number, names: readonly string[]): void {
    for (const sha256 of names) {
      const [blob] = this.#find.get(tenant, sha256) ?? [];
      invariant(blob !== undefined, 'row-names-kept-blob', { tenant, sha256 });
      if (Number(this.#addRef.run(run, blob).changes) > 0) this.#count.run(1, blob);
    }
  }

  /** Removes some references of a purged run, and the blobs that nothing names any more. False when none was left. */
  forgetSome(run: number, at: number): boolean {
    let removed = 0;
    const found = this.#refs.all(run);
    for (const [blob, tenant, bytes, refs, putAt] of found) {
      if (removed >= STEP_BLOBS) break;
      this.#dropRef.run(run, blob);
      this.#count.run(-1, blob);
      // A writer may have put the blob again just now and name it next; if it does not, the sweep removes it.
      if (refs > 1 || putAt > at - UNNAMED_BLOB_MS) continue;
      this.#remove(blob, tenant, bytes);
      removed += 1;
    }
    return found.length > 0;
  }

  sweepSome(before: number): number {
    const found = this.#unnamed.all(before);
    for (const [blob, tenant, bytes] of found) this.#remove(blob, tenant, bytes);
    return found.length;
  }

  #remove(blob: number, tenant: string, bytes: number): void {
    this.#drop.run(blob);
    this.#dropBody.run(blob);
    this.#usage.add(tenant, -bytes);
  }
}
