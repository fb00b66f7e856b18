/** The migration that keeps what is left of purged runs. */
import type { Migration } from './migration.ts';

/**
 * A purged run leaves `runs` and its rows leave `events`, so that no query has to leave them out. Tombstones are a table of
 * their own because a row that shrinks in place frees no page: after 15,000 of 20,000 updates the file had as many pages
 * as before, and after moving the rows a third of them.
 */
export const purgedRuns: Migration = {
  name: 'what is left of purged runs',
  sql: `
    CREATE TABLE purged_runs (
      key INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      tenant TEXT NOT NULL,
      context TEXT NOT NULL,
      origin TEXT NOT NULL,
      parent TEXT,
      fork_source TEXT,
      fork_seq INTEGER,
      fork_mode TEXT,
      purged_at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      hash TEXT NOT NULL,
      unfinished INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX purged_runs_by_context ON purged_runs (context);
    CREATE INDEX purged_runs_unfinished ON purged_runs (key) WHERE unfinished = 1;

    CREATE TABLE tombstones (
      cursor INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      type TEXT NOT NULL,
      node TEXT,
      cause ANY,
      audience INTEGER NOT NULL,
      row_hash TEXT NOT NULL,
      hash TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX tombstones_by_run ON tombstones (run, seq);

    CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
    ALTER TABLE idempotency ADD COLUMN run INTEGER;
    CREATE INDEX idempotency_by_run ON idempotency (run) WHERE run IS NOT NULL;
  `,
};
