/** The bytes of each tenant's blobs. Totals are saved with every change and cached for the quota check of appends. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Query, query } from '../query.ts';

export class BlobUsage {
  readonly #saved: Query<[tenant: string, bytes: number]>;
  readonly #save: StatementSync;
  /** Null until they are loaded. */
  #totals: Map<string, number> | null = null;

  constructor(db: DatabaseSync) {
    this.#saved = query(db, 'SELECT tenant, bytes FROM blob_usage');
    this.#save = db.prepare('INSERT OR REPLACE INTO blob_usage VALUES (?, ?)');
  }

  of(tenant: string): number {
    return this.#load().get(tenant) ?? 0;
  }

  /** Within the transaction that adds or removes the blob. */
  add(tenant: string, bytes: number): void {
    const total = this.of(tenant) + bytes;
    this.#load().set(tenant, total);
    this.#save.run(tenant, total);
  }

  /** Discards the totals after a transaction was rolled back. */
  clear(): void {
    this.#totals = null;
  }

  #load(): Map<string, number> {
    this.#totals ??= new Map(this.#saved.all());
    return this.#totals;
  }
}
