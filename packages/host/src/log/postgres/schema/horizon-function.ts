/**
 * How far the log is settled. Cursors are drawn before a commit, so that a smaller one may become visible later. Once every
 * transaction of `running` is over, no new row appears up to `last`. A transaction locks its own number from the moment
 * it has one, and that is before it draws a cursor. Snapshots do not show all of them: their end is the number after the
 * last one that is over, and younger transactions may be under way.
 *
 * `look` answers in one round trip: first the horizon alone, then rows of other writers, read after it.
 */
export const horizonFunction = `
  CREATE FUNCTION cairn.horizon(OUT last bigint, OUT running text) LANGUAGE plpgsql AS $$
  BEGIN
    -- The sequence is read first. Transactions of other databases do not matter.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM cairn.cursors;
    SELECT coalesce(json_agg(l.transactionid::text), '[]')::text INTO running FROM pg_locks l
      JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database()
      WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid();
  END $$;

  CREATE FUNCTION cairn.look(p_after bigint, p_writer integer, p_rows bigint, p_bytes bigint)
    RETURNS TABLE (last bigint, running text, seq bigint, cursor bigint, at bigint, type text, node text, cause text,
      audience smallint, face integer, body text, task_body text, own_hash text, chain_hash text, run_id text, context_id text)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
  #variable_conflict use_column
  DECLARE
    v record;
  BEGIN
    SELECT * INTO v FROM cairn.horizon();
    last := v.last;
    running := v.running;
    RETURN NEXT;
    IF v.last <= p_after THEN
      RETURN;
    END IF;
    RETURN QUERY SELECT NULL::bigint, NULL::text, c.seq, c.cursor, c.at, c.type, c.node, c.cause, c.audience, c.face, c.payload,
        c.task, c.row_hash, c.hash, c.id, c.context_id FROM (
      SELECT *, sum(x.payload_size + x.task_size) OVER (ORDER BY x.cursor) - x.payload_size - x.task_size AS before FROM (
        SELECT e.*, r.id, r.context AS context_id FROM cairn.events e
          JOIN cairn.runs r ON r.key = e.run AND r.imported_at IS NULL
          WHERE e.cursor > p_after AND e.cursor <= v.last AND e.writer <> p_writer ORDER BY e.cursor LIMIT p_rows) x) c
      WHERE c.before < p_bytes ORDER BY c.cursor;
  END $$;`;
