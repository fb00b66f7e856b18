/**
 * How far the log is settled. Cursors are drawn before a commit, so that a smaller one may become visible later. Every
 * transaction below `xmax` that was under way when `last` was read is over once `xmin` has reached that `xmax`; then no
 * new row appears up to `last`.
 */
export const horizonFunction = `
  CREATE FUNCTION cairn.horizon(OUT last bigint, OUT xmin bigint, OUT xmax bigint) LANGUAGE plpgsql AS $$
  DECLARE
    v pg_snapshot;
  BEGIN
    -- The sequence is read before the snapshot is taken: each statement of a volatile function has its own.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM cairn.cursors;
    v := pg_current_snapshot();
    xmin := pg_snapshot_xmin(v)::text::bigint;
    xmax := pg_snapshot_xmax(v)::text::bigint;
  END $$;`;
