/** One step of the database schema. */
import type { DatabaseSync } from 'node:sqlite';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /**
   * Changes rows before the statements run, in transactions of its own and of bounded size. It remembers how far it
   * got, because the process may end between two of them.
   */
  readonly changeRows?: (db: DatabaseSync, onProgress: (progress: RowProgress) => void) => void;
}

export interface RowProgress {
  readonly rows: number;
  readonly ofRows: number;
}
