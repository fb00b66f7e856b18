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
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
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
    -- A row of an imported run has no id here. It counts, so that a full page is known as one.
    RETURN QUERY SELECT NULL::bigint, NULL::text, c.seq, c.cursor, c.at, c.type, c.node, c.cause, c.audience, c.face,
        CASE WHEN r.id IS NULL THEN '' ELSE c.payload END, CASE WHEN r.id IS NOT NULL THEN c.task END, c.row_hash, c.hash,
        r.id, r.context
      FROM (SELECT *, sum(x.payload_size + x.task_size) OVER (ORDER BY x.cursor) - x.payload_size - x.task_size AS before
        FROM (SELECT * FROM cairn.events e WHERE e.cursor > p_after AND e.cursor <= v.last AND e.writer <> p_writer
          ORDER BY e.cursor LIMIT p_rows) x) c
      LEFT JOIN LATERAL (SELECT o.id, o.context FROM cairn.runs o WHERE o.key = c.run AND o.imported_at IS NULL) r ON true
      WHERE c.before < p_bytes ORDER BY c.cursor;
  END $$;`;
