/** The migration that keeps each large value of a run once, and counts the bytes of each tenant. */
import type { Migration } from './migration.ts';

/** Rows written before are whole, and do not count in quotas. */
export const largeValues: Migration = {
  name: 'each large value of a run once, and the bytes of a tenant',
  sql: `
    CREATE TABLE large_values (
      key INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      hash BLOB NOT NULL,
      body TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX large_values_by_hash ON large_values (run, hash);
    ALTER TABLE events ADD COLUMN cuts TEXT;
    ALTER TABLE events ADD COLUMN bytes INTEGER;
    CREATE TABLE tenant_usage (tenant TEXT PRIMARY KEY, log_bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO marks SELECT 'cairn.tenant-usage', coalesce(max(cursor), 0) FROM events;
  `,
};
