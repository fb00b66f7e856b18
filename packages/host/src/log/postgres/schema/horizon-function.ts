/**
 * How far the log is settled. Cursors are drawn before a commit, so that a smaller one may become visible later. Once every
 * transaction of `running` is over, no new row appears up to `last`. A transaction locks its own number from the moment
 * it has one, and that is before it draws a cursor. Snapshots do not show all of them: their end is the number after the
 * last one that is over, and younger transactions may be under way.
 */
export const horizonFunction = `
  CREATE FUNCTION cairn.horizon(OUT last bigint, OUT running text) LANGUAGE plpgsql AS $$
  BEGIN
    -- The sequence is read first. Transactions of other databases do not matter.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM cairn.cursors;
    SELECT coalesce(json_agg(l.transactionid::text), '[]')::text INTO running FROM pg_locks l
      JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database()
      WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid();
  END $$;`;

/**
 * The same, of transactions that draw cursors alone: each of them holds a lock of the sequence from before its first one until
 * its end. Others in the database may be under way for hours. Both locks are found in one look.
 */
export const writersHorizonFunction = `
  CREATE OR REPLACE FUNCTION cairn.horizon(OUT last bigint, OUT running text) LANGUAGE plpgsql AS $$
  BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM cairn.cursors;
    WITH held AS MATERIALIZED (SELECT pid, locktype, mode, database, relation, transactionid FROM pg_locks WHERE granted)
    SELECT coalesce(json_agg(t.transactionid::text), '[]')::text INTO running FROM held t
      WHERE t.locktype = 'transactionid' AND t.mode = 'ExclusiveLock' AND t.pid <> pg_backend_pid() AND EXISTS (
        SELECT 1 FROM held s WHERE s.pid = t.pid AND s.locktype = 'relation' AND s.mode = 'RowExclusiveLock'
          AND s.relation = 'cairn.cursors'::regclass
          AND s.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
  END $$;`;
