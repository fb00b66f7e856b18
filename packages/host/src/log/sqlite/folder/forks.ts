/** The migration for runs that begin with the rows of others, and for states and indexes at any row. */
import type { Migration } from './migration.ts';

/**
 * A fork has the rows of `owner` before `through`, beginning where the owner of a smaller `through` ends. Checkpoints of
 * the index let a fork of a long run begin at once.
 */
export const forks: Migration = {
  name: 'forks, and checkpoints along a run',
  sql: `
    ALTER TABLE runs ADD COLUMN fork_source TEXT;
    ALTER TABLE runs ADD COLUMN fork_seq INTEGER;
    ALTER TABLE runs ADD COLUMN fork_mode TEXT;
    CREATE TABLE shared_rows (
      run INTEGER NOT NULL,
      through INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      PRIMARY KEY (run, through)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX shared_rows_by_owner ON shared_rows (owner, through);
    CREATE TABLE index_checkpoints (
      run INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID;

    ALTER TABLE checkpoints RENAME TO newest_checkpoints;
    CREATE TABLE checkpoints (
      run TEXT NOT NULL,
      seq INTEGER NOT NULL,
      format TEXT NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (run, seq)
    ) STRICT;
    INSERT INTO checkpoints SELECT run, seq, format, body FROM newest_checkpoints;
    DROP TABLE newest_checkpoints;
  `,
};
