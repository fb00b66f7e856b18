/** The migration that adds blobs. */
import type { Migration } from './migration.ts';

/**
 * Blobs are rows, not files: the append that names a blob and the blob itself commit alike, one backup has both, and a
 * purge gives the space back as for events. Bodies have a table of their own, so that counting references does not
 * rewrite them.
 */
export const blobTables: Migration = {
  name: 'blobs, and the runs that name them',
  sql: `
    CREATE TABLE blobs (
      key INTEGER PRIMARY KEY,
      tenant TEXT NOT NULL,
      sha256 TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      put_at INTEGER NOT NULL,
      refs INTEGER NOT NULL,
      UNIQUE (tenant, sha256)
    ) STRICT;
    CREATE INDEX blobs_unnamed ON blobs (put_at) WHERE refs = 0;
    CREATE TABLE blob_bodies (blob INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
    CREATE TABLE blob_refs (
      run INTEGER NOT NULL,
      blob INTEGER NOT NULL,
      PRIMARY KEY (run, blob)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE blob_usage (tenant TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
};
