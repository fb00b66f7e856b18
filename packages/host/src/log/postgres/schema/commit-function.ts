/**
 * The function that commits a batch of appends in one round trip: it locks, compares every run with what the writer
 * expects of it, and writes the groups that were right. A group is what a batch does to one run.
 *
 * Locks are taken in one order by every writer: tenants, heads by key, contexts by id. Cursors are drawn after all of
 * them, so that the cursors of a context grow in commit order, and a run that starts knows all memories before it.
 */
export const commitFunction = `
  CREATE FUNCTION cairn.commit(p_writer integer, p_groups jsonb, p_rows jsonb, p_more jsonb, p_all boolean)
    RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_runs bigint[];
    v_contexts bigint[];
    v_failed integer[];
    v_cursors jsonb;
    v_befores jsonb;
    v_usage jsonb;
  BEGIN
    -- A reader of the whole log relies on it: whoever draws a cursor has a transaction number before.
    PERFORM pg_current_xact_id();
    IF p_more ? 'locks' THEN
      PERFORM CASE WHEN l.x THEN pg_advisory_xact_lock(l.k) ELSE pg_advisory_xact_lock_shared(l.k) END
        FROM (SELECT * FROM jsonb_to_recordset(p_more -> 'locks') AS l (k bigint, x boolean) ORDER BY k) l;
    END IF;
    PERFORM 1 FROM cairn.heads WHERE run IN (
        SELECT g.k FROM jsonb_to_recordset(p_groups) AS g (k bigint) WHERE g.k IS NOT NULL
        UNION SELECT r.key FROM jsonb_to_recordset(p_more -> 'wakes') AS w (id text) JOIN cairn.runs r ON r.id = w.id)
      ORDER BY run FOR UPDATE;
    INSERT INTO cairn.contexts (id, tenant, head, edition)
      SELECT DISTINCT ON (g.c) g.c, g.t, 0, 0 FROM jsonb_to_recordset(p_groups) AS g (k bigint, c text, t text)
        WHERE g.k IS NULL AND NOT EXISTS (SELECT 1 FROM cairn.contexts c WHERE c.id = g.c) ORDER BY g.c
      ON CONFLICT (id) DO NOTHING;
    PERFORM 1 FROM cairn.contexts WHERE id IN (SELECT g.c FROM jsonb_to_recordset(p_groups) AS g (c text))
      ORDER BY id FOR UPDATE;

    SELECT array_agg(CASE WHEN x.is_right THEN coalesce(x.k, 0) END ORDER BY x.i), array_agg(x.context ORDER BY x.i),
        jsonb_agg(x.head ORDER BY x.i), array_agg(x.i) FILTER (WHERE NOT x.is_right)
      INTO v_runs, v_contexts, v_befores, v_failed
      FROM (
        SELECT g.i, g.k, c.key AS context, c.head,
          (CASE WHEN g.k IS NULL
            THEN NOT EXISTS (SELECT 1 FROM cairn.runs r WHERE r.id = g.id)
              AND NOT EXISTS (SELECT 1 FROM cairn.purged_runs p WHERE p.id = g.id)
            ELSE coalesce(h.seq = g.es AND h.fence = g.ef AND h.owner IS NOT DISTINCT FROM g.eo, false) END)
          AND (NOT coalesce(g.n, false) OR c.tenant = g.t)
          AND (g.e IS NULL OR c.edition = g.e)
          AND (g.al IS NULL OR NOT EXISTS (
            SELECT 1 FROM cairn.runs r WHERE r.tenant = g.t AND r.scope = g.al AND r.scope IS NOT NULL
              AND r.ended_at IS NULL AND r.imported_at IS NULL AND r.fork_mode IS DISTINCT FROM 'replay'))
          AND (g.dead IS NULL OR NOT EXISTS (SELECT 1 FROM cairn.sessions s WHERE s.owner = g.dead AND s.until > g.now))
          AS is_right
        FROM jsonb_to_recordset(p_groups) AS g (i integer, k bigint, id text, c text, t text, es bigint, ef bigint, eo text,
          n boolean, e bigint, al text, dead text, now bigint)
        LEFT JOIN cairn.heads h ON h.run = g.k
        JOIN cairn.contexts c ON c.id = g.c
      ) x;
    IF p_more ? 'idempotency' OR p_more ? 'blobs' THEN
      v_failed := v_failed || cairn.refused(p_more);
      v_runs := (SELECT array_agg(CASE WHEN (o - 1)::integer = ANY (v_failed) THEN NULL ELSE k END ORDER BY o)
        FROM unnest(v_runs) WITH ORDINALITY AS x (k, o));
    END IF;
    IF p_all AND v_failed IS NOT NULL AND cardinality(v_failed) > 0 THEN
      RAISE EXCEPTION 'stale' USING ERRCODE = 'CA001';
    END IF;

    WITH created AS (
      INSERT INTO cairn.runs (id, tenant, context, context_key, origin, parent, workflow, definition, principal, status, node, tags,
          error_code, error_message, created_at, ended_at, imported_at, scope, fork_source, fork_seq, fork_mode,
          summary)
        SELECT g.id, g.t, g.c, v_contexts[g.i + 1], g.origin, g.parent, g.workflow, g.definition, g.principal, g.status, g.node,
          g.tags, g.error_code, g.error_message, g.created_at, g.ended_at, g.imported_at, g.scope, g.fork_source, g.fork_seq, g.fork_mode,
          g.summary
        FROM jsonb_to_recordset(p_groups) AS g (i integer, k bigint, id text, c text, t text, origin text, parent text,
          workflow text, definition text, principal text, status text, node text, tags text, error_code text,
          error_message text, created_at bigint, ended_at bigint, imported_at bigint, scope text, fork_source text,
          fork_seq bigint, fork_mode text, summary text)
        WHERE g.k IS NULL AND v_runs[g.i + 1] IS NOT NULL ORDER BY g.i
      RETURNING key, id
    ), begun AS (
      INSERT INTO cairn.heads (run, tenant, seq, hash, at, fence, owner, wake_at, is_over)
        SELECT created.key, g.t, g.s, g.h, g.a, g.f, g.o, g.w, g.ov FROM created JOIN jsonb_to_recordset(p_groups) AS
          g (k bigint, id text, t text, s bigint, h text, a bigint, f bigint, o text, w bigint, ov boolean)
          ON g.id = created.id AND g.k IS NULL
    )
    SELECT array_agg(coalesce(created.key, v_runs[g.i + 1]) ORDER BY g.i) INTO v_runs
      FROM jsonb_to_recordset(p_groups) AS g (i integer, id text, k bigint)
      LEFT JOIN created ON created.id = g.id AND g.k IS NULL;

    UPDATE cairn.heads h SET seq = g.s, hash = g.h, at = g.a, fence = g.f, owner = g.o, is_over = g.ov,
        wake_at = CASE WHEN g.wr THEN g.w ELSE least(h.wake_at, g.w) END
      FROM jsonb_to_recordset(p_groups) AS g (i integer, k bigint, s bigint, h text, a bigint, f bigint, o text, w bigint,
        wr boolean, ov boolean)
      WHERE h.run = g.k AND v_runs[g.i + 1] IS NOT NULL;

    WITH wrote AS (
      INSERT INTO cairn.events (run, seq, cursor, context, at, writer, face, payload_size, task_size, bytes, audience, type, node, cause,
          row_hash, hash, payload, task)
        SELECT v_runs[g + 1], s, nextval('cairn.cursors'), v_contexts[g + 1], a, p_writer, f, z, zt, b, u, y, n, c, r, h, p, k
        FROM (SELECT * FROM ROWS FROM (jsonb_to_recordset(p_rows) AS (g integer, s bigint, a bigint, f integer, z integer,
            zt integer, b integer, u smallint, y text, n text, c text, r text, h text, p text, k text)) WITH ORDINALITY
          AS x (g, s, a, f, z, zt, b, u, y, n, c, r, h, p, k, o) WHERE v_runs[g + 1] IS NOT NULL ORDER BY o) ordered
      RETURNING cursor, context
    ), moved AS (
      UPDATE cairn.contexts c SET head = m.head FROM (SELECT context, max(cursor) AS head FROM wrote GROUP BY context) m
        WHERE c.key = m.context
    )
    SELECT jsonb_agg(cursor ORDER BY cursor) INTO v_cursors FROM wrote;

    IF p_more IS NOT NULL THEN
      v_usage := cairn.commit_more(p_writer, v_runs, p_groups, p_more);
    END IF;
    RETURN jsonb_build_object('failed', coalesce(to_jsonb(v_failed), '[]'), 'cursors', v_cursors, 'runs', to_jsonb(v_runs),
      'contexts', to_jsonb(v_contexts), 'befores', v_befores, 'usage', v_usage);
  END $$;`;

/** What few batches have: checks of idempotency keys and blobs, and everything beside rows and heads. */
export const moreFunctions = `
  CREATE FUNCTION cairn.refused(p_more jsonb) RETURNS integer[] LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM 1 FROM cairn.idempotency d JOIN jsonb_to_recordset(p_more -> 'idempotency') AS w (t text, e text, k text)
      ON d.tenant = w.t AND d.endpoint = w.e AND d.key = w.k ORDER BY d.tenant, d.endpoint, d.key FOR UPDATE OF d;
    PERFORM 1 FROM cairn.blobs b JOIN jsonb_to_recordset(p_more -> 'blobs') AS w (t text, h text)
      ON b.tenant = w.t AND b.sha256 = w.h ORDER BY b.key FOR UPDATE OF b;
    RETURN (SELECT array_agg(x.g) FROM (
      SELECT w.g FROM jsonb_to_recordset(p_more -> 'idempotency') AS w (g integer, t text, e text, k text, by text)
        LEFT JOIN cairn.idempotency d ON d.tenant = w.t AND d.endpoint = w.e AND d.key = w.k
        WHERE CASE WHEN d.key IS NULL THEN w.by IS NOT NULL
          ELSE NOT coalesce(d.state = 'pending' AND d.owner = w.by, false) END
      UNION SELECT w.g FROM jsonb_to_recordset(p_more -> 'blobs') AS w (g integer, t text, h text)
        WHERE NOT EXISTS (SELECT 1 FROM cairn.blobs b WHERE b.tenant = w.t AND b.sha256 = w.h)) x);
  END $$;

  CREATE FUNCTION cairn.commit_more(p_writer integer, p_runs bigint[], p_groups jsonb, p_more jsonb)
    RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_run bigint;
  BEGIN
    UPDATE cairn.runs r SET workflow = w.workflow, definition = w.definition, principal = w.principal, status = w.status,
        node = w.node, tags = w.tags, scope = w.scope, error_code = w.error_code, error_message = w.error_message,
        ended_at = w.ended_at, summary = w.summary
      FROM jsonb_to_recordset(p_more -> 'records') AS w (g integer, workflow text, definition text, principal text,
        status text, node text, tags text, scope text, error_code text, error_message text, ended_at bigint,
        summary text)
      WHERE r.key = p_runs[w.g + 1];
    INSERT INTO cairn.interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant, title)
      SELECT p_runs[w.g + 1], w.id, w.node, w.kind, w.open, w.at, w.seq, w.votes, w.tenant, w.title FROM
        ROWS FROM (jsonb_to_recordset(p_more -> 'interrupts') AS (g integer, id text, node text, kind text, open smallint,
          at bigint, seq bigint, votes text, tenant text, title text)) WITH ORDINALITY
          AS w (g, id, node, kind, open, at, seq, votes, tenant, title, o) WHERE p_runs[w.g + 1] IS NOT NULL ORDER BY w.o
      ON CONFLICT (run, id) DO UPDATE SET open = excluded.open, requested_at = excluded.requested_at,
        seq = excluded.seq, votes = excluded.votes, tenant = excluded.tenant, title = excluded.title;
    INSERT INTO cairn.sessions (owner, until)
      SELECT w.owner, max(w.until) FROM jsonb_to_recordset(p_more -> 'sessions') AS w (g integer, owner text, until bigint)
        WHERE p_runs[w.g + 1] IS NOT NULL GROUP BY w.owner ORDER BY w.owner
      ON CONFLICT (owner) DO UPDATE SET until = greatest(sessions.until, excluded.until)
        WHERE sessions.until < excluded.until;
    UPDATE cairn.heads h SET wake_at = least(h.wake_at, w.at)
      FROM (SELECT r.key, min(x.at) AS at FROM jsonb_to_recordset(p_more -> 'wakes') AS x (g integer, id text, at bigint)
        JOIN cairn.runs r ON r.id = x.id WHERE p_runs[x.g + 1] IS NOT NULL GROUP BY r.key) w
      WHERE h.run = w.key AND NOT h.is_over;
    INSERT INTO cairn.idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run)
      SELECT w.t, w.e, w.k, w.digest, w.state, w.owner, w.until, w.status, w.headers, w.body, w.at, p_runs[w.g + 1]
        FROM jsonb_to_recordset(p_more -> 'idempotency') AS w (g integer, t text, e text, k text, digest text, state text,
          owner text, until bigint, status integer, headers text, body text, at bigint)
        WHERE p_runs[w.g + 1] IS NOT NULL
      ON CONFLICT (tenant, endpoint, key) DO UPDATE SET digest = excluded.digest, state = excluded.state,
        owner = excluded.owner, lease_until = excluded.lease_until, status = excluded.status, headers = excluded.headers,
        body = excluded.body, at = excluded.at, run = excluded.run;
    INSERT INTO cairn.index_checkpoints (run, seq, body)
      SELECT p_runs[w.g + 1], w.seq, w.body FROM jsonb_to_recordset(p_more -> 'indexes') AS w (g integer, seq bigint, body text)
        WHERE p_runs[w.g + 1] IS NOT NULL
      ON CONFLICT (run, seq) DO UPDATE SET body = excluded.body;
    FOR v_run IN SELECT p_runs[w.g + 1] FROM jsonb_to_recordset(p_more -> 'listed') AS w (g integer)
        WHERE p_runs[w.g + 1] IS NOT NULL LOOP
      PERFORM cairn.relist(v_run);
    END LOOP;
    IF p_more ? 'memories' THEN
      PERFORM cairn.keep_memories(p_runs, p_more -> 'memories');
    END IF;
    IF p_more ? 'blobs' THEN
      PERFORM cairn.name_blobs(p_runs[w.g + 1], w.t, w.h)
        FROM jsonb_to_recordset(p_more -> 'blobs') AS w (g integer, t text, h text) WHERE p_runs[w.g + 1] IS NOT NULL;
    END IF;
    IF p_more ? 'artifacts' THEN
      PERFORM cairn.apply_artifacts(p_runs, p_more -> 'artifacts');
    END IF;
    INSERT INTO cairn.usage (tenant, writer, log_bytes, blob_bytes)
      SELECT w.t, p_writer, sum(w.b), 0 FROM jsonb_to_recordset(p_more -> 'usage') AS w (g integer, t text, b bigint)
        WHERE p_runs[w.g + 1] IS NOT NULL GROUP BY w.t ORDER BY w.t
      ON CONFLICT (tenant, writer) DO UPDATE SET log_bytes = usage.log_bytes + excluded.log_bytes;
    RETURN (SELECT jsonb_object_agg(x.tenant, x.bytes) FROM (
      SELECT u.tenant, sum(u.log_bytes + u.blob_bytes) AS bytes FROM cairn.usage u WHERE u.tenant IN
        (SELECT w.t FROM jsonb_to_recordset(p_more -> 'usage') AS w (t text)) GROUP BY u.tenant) x);
  END $$;

  -- What lists filter by beside the columns of a run: its tags, and the waits of the runs below it.
  CREATE FUNCTION cairn.relist(p_run bigint) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v cairn.runs;
    v_wait text;
  BEGIN
    SELECT * INTO v FROM cairn.runs WHERE key = p_run;
    DELETE FROM cairn.run_tags WHERE run = p_run AND NOT (v.tags::jsonb ? tag);
    INSERT INTO cairn.run_tags (tenant, tag, run, workflow, shown)
      SELECT DISTINCT v.tenant, tag, v.key, v.workflow, v.shown FROM jsonb_array_elements_text(v.tags::jsonb) AS tag
      ON CONFLICT (tenant, tag, run) DO UPDATE SET workflow = excluded.workflow, shown = excluded.shown;
    WHILE v.parent IS NOT NULL AND v.imported_at IS NULL LOOP
      SELECT * INTO v FROM cairn.runs WHERE id = v.parent AND imported_at IS NULL FOR NO KEY UPDATE;
      EXIT WHEN NOT FOUND;
      SELECT r.shown INTO v_wait FROM cairn.runs r WHERE r.parent = v.id AND r.imported_at IS NULL
        AND r.shown IN ('waiting-approval', 'waiting-input', 'waiting-external') ORDER BY r.key LIMIT 1;
      EXIT WHEN v_wait IS NOT DISTINCT FROM v.child_wait;
      UPDATE cairn.runs SET child_wait = v_wait WHERE key = v.key;
      UPDATE cairn.run_tags t SET shown = r.shown FROM cairn.runs r WHERE t.run = v.key AND r.key = v.key;
    END LOOP;
  END $$;

  CREATE FUNCTION cairn.name_blobs(p_run bigint, p_tenant text, p_sha256 text) RETURNS void LANGUAGE sql AS $$
    WITH added AS (
      INSERT INTO cairn.blob_refs (run, blob) SELECT p_run, key FROM cairn.blobs WHERE tenant = p_tenant AND sha256 = p_sha256
      ON CONFLICT DO NOTHING RETURNING blob)
    UPDATE cairn.blobs SET refs = refs + 1 WHERE key IN (SELECT blob FROM added);
  $$;`;
