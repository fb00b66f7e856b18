/** The migration that keeps idempotency records in the order in which they were written. */
import type { Migration } from './migration.ts';

/**
 * Keys are hashes. A table in their order has a page of its own to write for each record, and a dozen fit on a page, so
 * that it is split all the time. In the order of writing, only the index of the keys has. Measured with commits of 50
 * rows and 8 records, after 12,000 records, on a shared machine: 118 against 145 KB of WAL, and 490-580 against 590-710
 * microseconds of CPU.
 */
export const idempotencyTable: Migration = {
  name: 'idempotency records in the order of writing',
  sql: `
    ALTER TABLE idempotency RENAME TO earlier_idempotency;
    DROP INDEX idempotency_by_age;
    DROP INDEX idempotency_by_run;
    CREATE TABLE idempotency (
      place INTEGER PRIMARY KEY,
      tenant TEXT NOT NULL,
      endpoint TEXT NOT NULL,
      key TEXT NOT NULL,
      digest TEXT NOT NULL,
      state TEXT NOT NULL,
      owner TEXT,
      lease_until INTEGER,
      status INTEGER NOT NULL,
      headers TEXT NOT NULL,
      body TEXT NOT NULL,
      at INTEGER NOT NULL,
      run INTEGER,
      UNIQUE (tenant, endpoint, key)
    ) STRICT;
    INSERT INTO idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run)
      SELECT tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run
      FROM earlier_idempotency ORDER BY at;
    DROP TABLE earlier_idempotency;
    CREATE INDEX idempotency_by_age ON idempotency (at);
    CREATE INDEX idempotency_by_run ON idempotency (run) WHERE run IS NOT NULL;
  `,
};
