/**
 * How far the log is settled. Cursors are drawn before a commit, so that a smaller one may become visible later. Whoever
 * drew a cursor up to `last` has a number below `xmax`, which is drawn after it was read. All of them are over once
 * `xmin` of a snapshot has reached that number; then no new row appears up to `last`. The `xmax` of a snapshot would not
 * do: it is the number after the last transaction that ended, and transactions with greater ones may be under way.
 */
export const horizonFunction = `
  CREATE FUNCTION cairn.horizon(OUT last bigint, OUT xmin bigint, OUT xmax bigint) LANGUAGE plpgsql AS $$
  DECLARE
    v pg_snapshot;
  BEGIN
    -- The sequence is read before the snapshot is taken: each statement of a volatile function has its own.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM cairn.cursors;
    xmax := pg_current_xact_id()::text::bigint;
    v := pg_current_snapshot();
    xmin := pg_snapshot_xmin(v)::text::bigint;
  END $$;`;
