/**
 * What other nodes wrote, in one round trip: first the horizon, up to where the rows behind it were looked at, and the runs
 * that they are of; then those of the types that somebody needs, or all. A row of an imported run has no id: it counts, so
 * that a full page is known as one.
 */
export const lookFunction = `
  CREATE FUNCTION cairn.look(p_after bigint, p_writer integer, p_rows bigint, p_bytes bigint, p_looked bigint, p_types text[])
    RETURNS TABLE (last bigint, running text, through bigint, runs text, seq bigint, cursor bigint, at bigint, type text,
      node text, cause text, audience smallint, face integer, body text, task_body text, own_hash text, chain_hash text,
      run_id text, context_id text)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  #variable_conflict use_column
  DECLARE
    v record;
    v_most bigint := CASE WHEN p_types IS NULL THEN p_rows ELSE p_looked END;
    v_looked bigint;
    v_end bigint;
    v_runs bigint[];
    v_cursors bigint[];
  BEGIN
    SELECT * INTO v FROM cairn.horizon();
    last := v.last;
    running := v.running;
    through := v.last;
    runs := '[]';
    IF v.last <= p_after THEN
      RETURN NEXT;
      RETURN;
    END IF;
    -- Most rows are of no such type, and are not read beyond their page.
    SELECT count(*), max(x.cursor), array_agg(DISTINCT x.run), coalesce(array_agg(x.cursor) FILTER (WHERE x.is_needed), '{}')
      INTO v_looked, v_end, v_runs, v_cursors
      FROM (SELECT e.run, e.cursor, p_types IS NULL OR e.type = ANY (p_types) AS is_needed FROM cairn.events e
        WHERE e.cursor > p_after AND e.cursor <= v.last AND e.writer <> p_writer
        ORDER BY e.cursor LIMIT v_most) x;
    IF v_looked = v_most THEN
      through := v_end;
    END IF;
    SELECT coalesce(json_agg(json_build_array(r.id, r.context)), '[]')::text INTO runs
      FROM cairn.runs r WHERE r.key = ANY (v_runs) AND r.imported_at IS NULL;
    RETURN NEXT;
    RETURN QUERY SELECT NULL::bigint, NULL::text, NULL::bigint, NULL::text, c.seq, c.cursor, c.at, c.type, c.node, c.cause,
        c.audience, c.face, CASE WHEN r.id IS NULL THEN '' ELSE c.payload END, CASE WHEN r.id IS NOT NULL THEN c.task END,
        c.row_hash, c.hash, r.id, r.context
      FROM (SELECT *, sum(x.payload_size + x.task_size) OVER (ORDER BY x.cursor) - x.payload_size - x.task_size AS before
        FROM (SELECT * FROM cairn.events e WHERE e.cursor = ANY (v_cursors) ORDER BY e.cursor LIMIT p_rows) x) c
      LEFT JOIN LATERAL (SELECT o.id, o.context FROM cairn.runs o WHERE o.key = c.run AND o.imported_at IS NULL) r ON true
      WHERE c.before < p_bytes ORDER BY c.cursor;
  END $$;`;

/** As nodes of schema version 4 call it: rows of every type. They go on with it until they are restarted. */
export const lookAtAllFunction = `
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
    RETURN QUERY SELECT NULL::bigint, NULL::text, c.seq, c.cursor, c.at, c.type, c.node, c.cause, c.audience, c.face,
        CASE WHEN r.id IS NULL THEN '' ELSE c.payload END, CASE WHEN r.id IS NOT NULL THEN c.task END, c.row_hash, c.hash,
        r.id, r.context
      FROM (SELECT *, sum(x.payload_size + x.task_size) OVER (ORDER BY x.cursor) - x.payload_size - x.task_size AS before
        FROM (SELECT * FROM cairn.events e WHERE e.cursor > p_after AND e.cursor <= v.last AND e.writer <> p_writer
          ORDER BY e.cursor LIMIT p_rows) x) c
      LEFT JOIN LATERAL (SELECT o.id, o.context FROM cairn.runs o WHERE o.key = c.run AND o.imported_at IS NULL) r ON true
      WHERE c.before < p_bytes ORDER BY c.cursor;
  END $$;`;
