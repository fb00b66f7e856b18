/**
 * Notifies other nodes of the commit before it on the same connection. If the run has the rows that the writer sent, their
 * cursors are told too, and the newest one before them in their context: who has told that one can go on with these.
 */
export const tellFunction = `
  CREATE FUNCTION cairn.tell(p_channel text, p_bare text, p_said text, p_run bigint, p_first bigint, p_last bigint, p_hash text)
    RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET jit = off AS $$
  DECLARE
    v_placed text;
  BEGIN
    -- The flush of this small transaction is nobody's concern.
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT json_build_array(coalesce((SELECT o.cursor FROM cairn.events o WHERE o.context = f.context AND o.cursor < f.first
          ORDER BY o.cursor DESC LIMIT 1), 0), f.cursors)::text INTO v_placed
      FROM (SELECT min(e.cursor) AS first, min(e.context) AS context, array_agg(e.cursor ORDER BY e.seq) AS cursors,
          min(e.hash) FILTER (WHERE e.seq = p_last) AS hash
        FROM cairn.events e WHERE e.run = p_run AND e.seq BETWEEN p_first AND p_last) f
      WHERE f.hash = p_hash AND cardinality(f.cursors) = p_last - p_first + 1;
    PERFORM pg_notify(p_channel, coalesce(p_said || ',' || v_placed || ']', p_bare));
  END $$;`;
