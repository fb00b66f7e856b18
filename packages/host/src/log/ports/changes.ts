/** The rows of all runs in commit order, for readers that must not miss one, even across failures. */
import type { Row } from './rows.ts';

export interface ChangeLog {
  /** Up to `limit` rows after a position, in pages bounded like those of `EventLog.read`. Once a position is returned, no new row appears before it. */
  read(range: ChangesRange): Promise<Changes>;
  /** The current end position. */
  end(): Promise<string>;
  /** The cursor of the newest row of any run. */
  lastCursor(): Promise<number>;
}

export interface ChangesRange {
  readonly after: string;
  readonly limit: number;
  readonly maxBytes?: number | undefined;
  /**
   * Returns only matching rows. The position still moves past the others, and `limit` bounds the scanned rows.
   * Null returns the rows of all tenants. The field is required, so that no caller reads them all by mistake.
   */
  readonly filter: RowFilter | null;
  /**
   * Reads where matching rows are: with a filter, bodies and hashes may be empty, and no bytes end a page. A reader of large
   * rows that reads each of them later reads them once.
   */
  readonly isForPlaces?: boolean | undefined;
}

/** Selects client-visible rows of one tenant and of some types. */
export interface RowFilter {
  readonly tenant: string;
  readonly types: readonly string[];
}

/** A page of rows. Rows of the same run keep their order. */
export interface Changes {
  /** Excludes rows of imported runs, which were not written here. */
  readonly rows: readonly Row[];
  /** Where to continue; equals the requested position when nothing was added. Opaque outside the store. */
  readonly position: string;
}
