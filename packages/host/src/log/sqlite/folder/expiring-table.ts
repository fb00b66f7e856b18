/** The migration that adds expiring records, takes over the sessions that were ended, and fences delivery states. */
import type { Migration } from './migration.ts';

/** Each entry of the earlier list is a pair: the tenant as JSON, a space and an id, and when it would have expired. */
export const expiringTable: Migration = {
  name: 'records that expire, and the lease under which a delivery state was saved',
  sql: `
    CREATE TABLE expiring (
      place INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      owner TEXT NOT NULL,
      body TEXT NOT NULL,
      expires_at REAL NOT NULL,
      UNIQUE (kind, name)
    ) STRICT;
    CREATE INDEX expiring_of_owner ON expiring (kind, owner, expires_at);
    CREATE INDEX expiring_over ON expiring (expires_at);
    INSERT INTO expiring (kind, name, owner, body, expires_at)
      SELECT CASE WHEN instr(name, ' read:') > 0 THEN 'revoked-token' ELSE 'ended-session' END,
        name, json_extract(rtrim(name, replace(name, ' ', '')), '$'), '', expires_at
      FROM (
        SELECT value ->> '$[0]' AS name, value ->> '$[1]' AS expires_at
        FROM marks, json_each(marks.position) WHERE marks.reader = 'sessions.ended');
    DELETE FROM marks WHERE reader = 'sessions.ended';
    ALTER TABLE subscriptions ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
  `,
};
