/** The migration that lets a verification find changes which the hashes of events do not cover. */
import type { Migration } from './migration.ts';

/**
 * Rows from before have no mark and are not checked. Before the cursor `dense_after` a transaction that failed may have
 * left a gap; from there on cursors have none, so that an event with another cursor shows.
 */
export const marks: Migration = {
  name: 'marks of what no hash covers; cursors without gaps',
  sql: `
    ALTER TABLE tombstones ADD COLUMN mark BLOB;
    ALTER TABLE purged_runs ADD COLUMN mark BLOB;
    ALTER TABLE runs ADD COLUMN mark BLOB;
    ALTER TABLE runs ADD COLUMN frozen BLOB;
    ALTER TABLE checkpoints ADD COLUMN mark BLOB;
    ALTER TABLE index_checkpoints ADD COLUMN mark BLOB;
    INSERT OR REPLACE INTO folder_facts SELECT 'dense_after', max(
      coalesce((SELECT max(cursor) FROM events), 0), coalesce((SELECT max(cursor) FROM tombstones), 0));
  `,
};
