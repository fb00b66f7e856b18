/** The migration that adds the index of artifacts. */
import type { Migration } from './migration.ts';

/** Rows of earlier versions hold no artifacts, so that there is nothing to add. `life` and `call` identify the writer. */
export const artifactTables: Migration = {
  name: 'the versions of artifacts',
  sql: `
    CREATE TABLE artifacts (
      context TEXT NOT NULL,
      id TEXT NOT NULL,
      version INTEGER NOT NULL,
      family TEXT NOT NULL,
      run INTEGER NOT NULL,
      life TEXT,
      call TEXT,
      state TEXT NOT NULL,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      pieces INTEGER NOT NULL,
      size INTEGER NOT NULL,
      name TEXT,
      mime TEXT,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (context, id, version)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX artifacts_by_run ON artifacts (run);
  `,
};
