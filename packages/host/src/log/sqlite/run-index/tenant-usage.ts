/**
 * The bytes of each tenant's events, and of the definitions that it stored. The totals live in memory and are saved after many rows, with the cursor that they
 * cover. After a restart or a failed transaction the rows beyond that cursor are added again, so no total is ever lost.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ROW_OVERHEAD_BYTES } from '../../ports/row-bytes.ts';
import { type Query, query } from '../query.ts';

/** Rows between two saves: few enough to add up again in a millisecond, and a save costs one page. */
const SAVE_EVERY_ROWS = 1_000;

/** The name of the saved cursor among the positions of the log's readers. */
const POSITION = 'cairn.tenant-usage';

/** As `rowBytes` counts them. A row without its large values keeps the number. */
export const ROW_BYTES = `coalesce(events.bytes,
  ${ROW_OVERHEAD_BYTES} + octet_length(events.payload) + coalesce(octet_length(events.task), 0))`;

export class TenantBytes {
  readonly #saved: Query<[tenant: string, bytes: number]>;
  readonly #position: Query<[position: string]>;
  readonly #added: Query<[tenant: string, bytes: number, rows: number]>;
  readonly #save: StatementSync;
  readonly #savePosition: StatementSync;
  /** Null until they are loaded. */
  #totals: Map<string, number> | null = null;
  readonly #changed = new Set<string>();
  #unsavedRows = 0;

  constructor(db: DatabaseSync) {
    this.#saved = query(db, 'SELECT tenant, log_bytes FROM tenant_usage');
    this.#position = query(db, 'SELECT position FROM marks WHERE reader = ?');
    this.#added = query(
      db,
      `SELECT runs.tenant, sum(${ROW_BYTES}), count(*) FROM events JOIN runs ON runs.key = events.run
       WHERE events.cursor > ? GROUP BY runs.tenant`,
    );
    this.#save = db.prepare('INSERT OR REPLACE INTO tenant_usage VALUES (?, ?)');
    this.#savePosition = db.prepare('INSERT OR REPLACE INTO marks VALUES (?, ?)');
  }

  of(tenant: string): number {
    return this.load().get(tenant) ?? 0;
  }

  /** Counts rows of this transaction. The totals must be loaded before the rows are written. */
  add(tenant: string, bytes: number, rows: number): void {
    const totals = this.load();
    totals.set(tenant, (totals.get(tenant) ?? 0) + bytes);
    this.#changed.add(tenant);
    this.#unsavedRows += rows;
  }

  /**
   * Takes removed rows off the total, and saves it in this transaction: the saved total alone could not tell
   * which rows it still counts. Rows that are older than the count were never part of it.
   */
  remove(tenant: string, bytes: number): void {
    this.#change(tenant, -bytes);
  }

  /** Counts bytes that are no rows. The total is saved in this transaction, because no row would tell of them. */
  addOther(tenant: string, bytes: number): void {
    this.#change(tenant, bytes);
  }

  #change(tenant: string, bytes: number): void {
    const totals = this.load();
    totals.set(tenant, Math.max(0, (totals.get(tenant) ?? 0) + bytes));
    this.#changed.add(tenant);
    this.#unsavedRows = SAVE_EVERY_ROWS;
  }

  /** Runs in every transaction, after its rows. `cursor` is that of the last row. */
  save(cursor: number): void {
    if (this.#unsavedRows < SAVE_EVERY_ROWS) return;
    for (const tenant of this.#changed) this.#save.run(tenant, this.of(tenant));
    this.#savePosition.run(POSITION, String(cursor));
    this.#changed.clear();
    this.#unsavedRows = 0;
  }

  /** Discards the totals after rows were rolled back, or may have been. */
  clear(): void {
    this.#totals = null;
  }

  load(): Map<string, number> {
    if (this.#totals !== null) return this.#totals;
    const totals = new Map(this.#saved.all());
    this.#changed.clear();
    this.#unsavedRows = 0;
    const [position] = this.#position.get(POSITION) ?? ['0'];
    for (const [tenant, bytes, rows] of this.#added.all(Number(position))) {
      this.#unsavedRows += rows;
      totals.set(tenant, (totals.get(tenant) ?? 0) + bytes);
      this.#changed.add(tenant);
    }
    this.#totals = totals;
    return totals;
  }
}
