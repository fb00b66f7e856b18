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
