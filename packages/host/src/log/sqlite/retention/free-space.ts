/** Free pages of the database file, given back a few at a time. */
import type { DatabaseSync } from 'node:sqlite';
import type { FreeSpace } from '../../ports/purges.ts';
import { query } from '../query.ts';

/** Pages moved in one transaction: about 2 ms. */
const STEP_PAGES = 64;

/** The mode in which a database can give back some of its free pages. */
const INCREMENTAL = 2;

export interface FreePages {
  /** Call it within a transaction. The file itself shrinks with the next checkpoint. */
  releaseSome(): FreeSpace;
}

export function freeSpace(db: DatabaseSync): FreePages {
  const mode = query<[mode: number]>(db, 'PRAGMA auto_vacuum');
  const free = query<[pages: number]>(db, 'PRAGMA freelist_count');
  const pageSize = query<[bytes: number]>(db, 'PRAGMA page_size').get()?.[0] ?? 0;
  const release = query<[]>(db, `PRAGMA incremental_vacuum(${STEP_PAGES})`);
  return {
    releaseSome: () => {
      const isReleasable = mode.get()?.[0] === INCREMENTAL;
      // The statement moves one page with each row that it returns.
      if (isReleasable) release.all();
      return { bytes: (free.get()?.[0] ?? 0) * pageSize, isReleasable };
    },
  };
}
