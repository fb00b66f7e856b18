/**
 * The function that commits a batch of appends in one round trip: it locks, compares every run with what the writer
 * expects of it, and writes the groups that were right. A group is what a batch does to one run.
 *
 * Locks are taken in one order by every writer: tenants, heads by key, contexts by id. Cursors are drawn after all of
 * them, so that the cursors of a context grow in commit order, and a run that starts knows all memories before it.
 */
export const commitFunction = `
  CREATE FUNCTION cairn.commit(p_writer integer, p_lane integer, p_all boolean, p_more jsonb,
      g_run bigint[], g_context text[], g_tenant text[], g_old_seq bigint[], g_old_fence bigint[], g_old_owner text[],
      g_seq bigint[], g_hash text[], g_at bigint[], g_fence bigint[], g_owner text[], g_wake bigint[], g_reset boolean[],
      g_over boolean[], g_bytes bigint[],
      r_group integer[], r_seq bigint[], r_at bigint[], r_face integer[], r_payload_size integer[], r_task_size integer[],
      r_bytes integer[], r_audience smallint[], r_type text[], r_node text[], r_cause text[], r_row_hash text[],
      r_hash text[], r_payload text[], r_task text[])
    RETURNS json LANGUAGE plpgsql
    -- Its statements look rows up by key, however large the tables are: planned once, and never for a table as it was.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off SET jit = off AS $$
  DECLARE
    v_locked bigint[] := g_run;
    v_refused integer[] := '{}';
    v_moved bigint[];
    v_runs bigint[];
    v_contexts bigint[];
    v_befores bigint[];
    v_failed integer[] := '{}';
    v_cursors bigint[];
  BEGIN
    -- A reader of the whole log relies on it: whoever draws a cursor has a transaction number before.
    PERFORM pg_current_xact_id();
    IF cardinality(g_run) = 1 AND g_run[1] IS NOT NULL AND NOT p_all
        AND NOT coalesce(p_more ?| ARRAY['locks', 'wakes', 'relied', 'idempotency', 'blobs'], false) THEN
      v_cursors := cairn.commit_alone(p_writer, g_run[1], g_context[1], g_old_seq[1], g_old_fence[1], g_old_owner[1], g_seq[1],
        g_hash[1], g_at[1], g_fence[1], g_owner[1], g_wake[1], g_reset[1], g_over[1], r_seq, r_at, r_face, r_payload_size,
        r_task_size, r_bytes, r_audience, r_type, r_node, r_cause, r_row_hash, r_hash, r_payload, r_task);
      IF v_cursors IS NULL THEN
        RETURN json_build_object('failed', ARRAY[0], 'cursors', NULL, 'runs', ARRAY[NULL::bigint], 'befores', ARRAY[NULL::bigint],
          'usage', NULL);
      END IF;
      IF p_more IS NOT NULL THEN
        PERFORM cairn.commit_more(g_run, p_more);
      END IF;
      -- The first one is the newest cursor of the context before.
      RETURN json_build_object('failed', v_failed, 'cursors', v_cursors[2:], 'runs', g_run, 'befores', v_cursors[1:1],
        'usage', cairn.add_usage(p_writer, p_lane, g_run, g_tenant, g_bytes));
    END IF;
    IF p_more ? 'locks' THEN
      PERFORM CASE WHEN l.x THEN pg_advisory_xact_lock(l.k) ELSE pg_advisory_xact_lock_shared(l.k) END
        FROM (SELECT * FROM jsonb_to_recordset(p_more -> 'locks') AS l (k bigint, x boolean) ORDER BY k) l;
    END IF;
    IF p_more ? 'wakes' THEN
      v_locked := v_locked || ARRAY(SELECT r.key FROM jsonb_to_recordset(p_more -> 'wakes') AS w (id text)
        JOIN cairn.runs r ON r.id = w.id);
    END IF;
    PERFORM 1 FROM cairn.heads WHERE run = ANY (v_locked) ORDER BY run FOR UPDATE;
    IF p_more ? 'created' THEN
      INSERT INTO cairn.contexts (id, tenant, head, edition)
        SELECT DISTINCT ON (g_context[w.g + 1]) g_context[w.g + 1], g_tenant[w.g + 1], 0, 0
          FROM jsonb_to_recordset(p_more -> 'created') AS w (g integer) ORDER BY g_context[w.g + 1]
        ON CONFLICT (id) DO NOTHING;
    END IF;
    PERFORM 1 FROM cairn.contexts WHERE id = ANY (g_context) ORDER BY id FOR UPDATE;
    SELECT array_agg(c.key ORDER BY g.i), array_agg(c.head ORDER BY g.i) INTO v_contexts, v_befores
      FROM unnest(g_context) WITH ORDINALITY AS g (c, i) JOIN cairn.contexts c ON c.id = g.c;
    IF p_more ?| ARRAY['created', 'relied', 'idempotency', 'blobs'] THEN
      v_refused := cairn.refused(p_more, g_context, g_tenant);
    END IF;

    -- What the writer expects of a run is compared here. Null stands for a group that was not right.
    WITH moved AS (
      UPDATE cairn.heads h SET seq = g.s, hash = g.h, at = g.a, fence = g.f, owner = g.o, is_over = g.ov,
          wake_at = CASE WHEN g.wr THEN g.w ELSE least(h.wake_at, g.w) END
        FROM unnest(g_run, g_old_seq, g_old_fence, g_old_owner, g_seq, g_hash, g_at, g_fence, g_owner, g_wake, g_reset, g_over)
          WITH ORDINALITY AS g (k, es, ef, eo, s, h, a, f, o, w, wr, ov, i)
        WHERE h.run = g.k AND h.seq = g.es AND h.fence = g.ef AND h.owner IS NOT DISTINCT FROM g.eo
          AND g.i - 1 <> ALL (v_refused)
        RETURNING h.run
    )
    SELECT coalesce(array_agg(run), '{}') INTO v_moved FROM moved;
    IF cardinality(v_moved) = cardinality(g_run) THEN
      v_runs := g_run;
    ELSE
      SELECT array_agg(CASE WHEN g.k = ANY (v_moved) THEN g.k WHEN g.k IS NULL AND g.i - 1 <> ALL (v_refused) THEN 0 END
          ORDER BY g.i) INTO v_runs FROM unnest(g_run) WITH ORDINALITY AS g (k, i);
      v_failed := ARRAY(SELECT (x.i - 1)::integer FROM unnest(v_runs) WITH ORDINALITY AS x (run, i) WHERE x.run IS NULL);
    END IF;
    IF p_all AND cardinality(v_failed) > 0 THEN
      RAISE EXCEPTION 'stale' USING ERRCODE = 'CA001';
    END IF;
    IF p_more ? 'created' THEN
      v_runs := cairn.create_runs(p_more -> 'created', v_runs, v_contexts, g_context, g_tenant);
      INSERT INTO cairn.heads (run, tenant, seq, hash, at, fence, owner, wake_at, is_over)
        SELECT g.run, g.t, g.s, g.h, g.a, g.f, g.o, g.w, g.ov
          FROM unnest(g_run, v_runs, g_tenant, g_seq, g_hash, g_at, g_fence, g_owner, g_wake, g_over)
            AS g (k, run, t, s, h, a, f, o, w, ov)
          WHERE g.k IS NULL AND g.run IS NOT NULL;
    END IF;

    WITH wrote AS (
      INSERT INTO cairn.events (run, seq, cursor, context, at, writer, face, payload_size, task_size, bytes, audience, type, node, cause,
          row_hash, hash, payload, task)
        SELECT v_runs[g + 1], s, nextval('cairn.cursors'), v_contexts[g + 1], a, p_writer, f, z, zt, b, u, y, n, c, r, h, p, k
        FROM unnest(r_group, r_seq, r_at, r_face, r_payload_size, r_task_size, r_bytes, r_audience, r_type, r_node, r_cause,
          r_row_hash, r_hash, r_payload, r_task) AS x (g, s, a, f, z, zt, b, u, y, n, c, r, h, p, k)
        WHERE v_runs[g + 1] IS NOT NULL
      RETURNING cursor, context
    ), heads AS (
      UPDATE cairn.contexts c SET head = m.head FROM (SELECT context, max(cursor) AS head FROM wrote GROUP BY context) m
        WHERE c.key = m.context
    )
    SELECT array_agg(cursor) INTO v_cursors FROM wrote;

    IF p_more IS NOT NULL THEN
      PERFORM cairn.commit_more(v_runs, p_more);
    END IF;
    RETURN json_build_object('failed', v_failed, 'cursors', v_cursors, 'runs', v_runs, 'befores', v_befores,
      'usage', cairn.add_usage(p_writer, p_lane, v_runs, g_tenant, g_bytes));
  END $$;`;
