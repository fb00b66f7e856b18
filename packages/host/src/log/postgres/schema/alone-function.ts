/**
 * Writes the rows of one append to a run that exists, as most are when a node is quiet: the same comparison and the same
 * locks as those of a batch, in fewer and smaller steps. Returns the newest cursor of the context before the rows, and
 * theirs; null if the run is not as the writer expects.
 */
export const aloneFunction = `
  CREATE FUNCTION cairn.commit_alone(p_writer integer, p_run bigint, p_context text, p_old_seq bigint, p_old_fence bigint,
      p_old_owner text, p_seq bigint, p_hash text, p_at bigint, p_fence bigint, p_owner text, p_wake bigint, p_reset boolean,
      p_over boolean, r_seq bigint[], r_at bigint[], r_face integer[], r_payload_size integer[], r_task_size integer[],
      r_bytes integer[], r_audience smallint[], r_type text[], r_node text[], r_cause text[], r_row_hash text[], r_hash text[],
      r_payload text[], r_task text[])
    RETURNS bigint[] LANGUAGE plpgsql AS $$
  DECLARE
    v_context bigint;
    v_before bigint;
    v_cursors bigint[];
  BEGIN
    UPDATE cairn.heads h SET seq = p_seq, hash = p_hash, at = p_at, fence = p_fence, owner = p_owner, is_over = p_over,
        wake_at = CASE WHEN p_reset THEN p_wake ELSE least(h.wake_at, p_wake) END
      WHERE h.run = p_run AND h.seq = p_old_seq AND h.fence = p_old_fence AND h.owner IS NOT DISTINCT FROM p_old_owner;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    SELECT c.key, c.head INTO STRICT v_context, v_before FROM cairn.contexts c WHERE c.id = p_context FOR UPDATE;
    WITH wrote AS (
      INSERT INTO cairn.events (run, seq, cursor, context, at, writer, face, payload_size, task_size, bytes, audience, type, node,
          cause, row_hash, hash, payload, task)
        SELECT p_run, s, nextval('cairn.cursors'), v_context, a, p_writer, f, z, zt, b, u, y, n, c, r, h, p, k
        FROM unnest(r_seq, r_at, r_face, r_payload_size, r_task_size, r_bytes, r_audience, r_type, r_node, r_cause, r_row_hash,
          r_hash, r_payload, r_task) AS x (s, a, f, z, zt, b, u, y, n, c, r, h, p, k)
      RETURNING cursor
    )
    SELECT coalesce(array_agg(cursor), '{}') INTO v_cursors FROM wrote;
    IF cardinality(v_cursors) > 0 THEN
      UPDATE cairn.contexts SET head = v_cursors[cardinality(v_cursors)] WHERE key = v_context;
    END IF;
    RETURN v_before || v_cursors;
  END $$;`;
