/** What a batch checks and writes beside rows and heads: keys, blobs, new runs, usage, records. Most batches have none of it. */
export const batchFunctions = `
  CREATE FUNCTION cairn.refused(p_more jsonb, g_context text[], g_tenant text[]) RETURNS integer[] LANGUAGE plpgsql AS $$
  DECLARE
    v_refused integer[];
  BEGIN
    v_refused := ARRAY(
      SELECT w.g FROM jsonb_to_recordset(p_more -> 'created') AS w (g integer, id text) JOIN cairn.runs r ON r.id = w.id
      UNION SELECT w.g FROM jsonb_to_recordset(p_more -> 'created') AS w (g integer, id text)
        JOIN cairn.purged_runs p ON p.id = w.id
      UNION SELECT w.g FROM jsonb_to_recordset(p_more -> 'relied') AS w (g integer, n boolean, e bigint, al text, dead text,
          now bigint) JOIN cairn.contexts c ON c.id = g_context[w.g + 1]
        WHERE (coalesce(w.n, false) AND c.tenant <> g_tenant[w.g + 1])
          OR (w.e IS NOT NULL AND c.edition <> w.e)
          OR (w.al IS NOT NULL AND EXISTS (
            SELECT 1 FROM cairn.runs r WHERE r.tenant = g_tenant[w.g + 1] AND r.scope = w.al AND r.scope IS NOT NULL
              AND r.ended_at IS NULL AND r.imported_at IS NULL AND r.fork_mode IS DISTINCT FROM 'replay'))
          OR (w.dead IS NOT NULL AND EXISTS (SELECT 1 FROM cairn.sessions s WHERE s.owner = w.dead AND s.until > w.now)));
    IF NOT p_more ?| ARRAY['idempotency', 'blobs'] THEN
      RETURN v_refused;
    END IF;
    PERFORM 1 FROM cairn.idempotency d JOIN jsonb_to_recordset(p_more -> 'idempotency') AS w (t text, e text, k text)
      ON d.tenant = w.t AND d.endpoint = w.e AND d.key = w.k ORDER BY d.tenant, d.endpoint, d.key FOR UPDATE OF d;
    PERFORM 1 FROM cairn.blobs b JOIN jsonb_to_recordset(p_more -> 'blobs') AS w (t text, h text)
      ON b.tenant = w.t AND b.sha256 = w.h ORDER BY b.key FOR UPDATE OF b;
    RETURN v_refused || ARRAY(
      SELECT w.g FROM jsonb_to_recordset(p_more -> 'idempotency') AS w (g integer, t text, e text, k text, by text)
        LEFT JOIN cairn.idempotency d ON d.tenant = w.t AND d.endpoint = w.e AND d.key = w.k
        WHERE CASE WHEN d.key IS NULL THEN w.by IS NOT NULL
          ELSE NOT coalesce(d.state = 'pending' AND d.owner = w.by, false) END
      UNION SELECT w.g FROM jsonb_to_recordset(p_more -> 'blobs') AS w (g integer, t text, h text)
        WHERE NOT EXISTS (SELECT 1 FROM cairn.blobs b WHERE b.tenant = w.t AND b.sha256 = w.h));
  END $$;

  -- Gives the groups that create a run its key.
  CREATE FUNCTION cairn.create_runs(p_created jsonb, p_runs bigint[], p_contexts bigint[], g_context text[], g_tenant text[])
    RETURNS bigint[] LANGUAGE plpgsql AS $$
  BEGIN
    WITH wanted AS (
      SELECT * FROM jsonb_to_recordset(p_created) AS w (g integer, id text, origin text, parent text,
          workflow text, definition text, principal text, status text, node text, tags text, error_code text,
          error_message text, created_at bigint, ended_at bigint, imported_at bigint, scope text, fork_source text,
          fork_seq bigint, fork_mode text, summary text)
        WHERE p_runs[w.g + 1] IS NOT NULL ORDER BY w.g
    ), created AS (
      INSERT INTO cairn.runs (id, tenant, context, context_key, origin, parent, workflow, definition, principal, status, node, tags,
          error_code, error_message, created_at, ended_at, imported_at, scope, fork_source, fork_seq, fork_mode,
          summary)
        SELECT w.id, g_tenant[w.g + 1], g_context[w.g + 1], p_contexts[w.g + 1], w.origin, w.parent, w.workflow, w.definition,
          w.principal, w.status, w.node, w.tags, w.error_code, w.error_message, w.created_at, w.ended_at, w.imported_at, w.scope,
          w.fork_source, w.fork_seq, w.fork_mode, w.summary
        FROM wanted w
      RETURNING key, id
    )
    SELECT array_agg(coalesce(c.key, x.run) ORDER BY x.i) INTO p_runs FROM unnest(p_runs) WITH ORDINALITY AS x (run, i)
      LEFT JOIN wanted w ON w.g + 1 = x.i LEFT JOIN created c ON c.id = w.id;
    RETURN p_runs;
  END $$;

  -- Counts the bytes of a batch, and returns those of its tenants from all writers.
  CREATE FUNCTION cairn.add_usage(p_writer integer, p_lane integer, p_runs bigint[], g_tenant text[], g_bytes bigint[])
    RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    v_usage json;
  BEGIN
    WITH mine AS (
      INSERT INTO cairn.usage (tenant, writer, lane, log_bytes, blob_bytes)
        SELECT x.t, p_writer, p_lane, sum(CASE WHEN x.run IS NULL THEN 0 ELSE x.b END), 0
          FROM unnest(p_runs, g_tenant, g_bytes) AS x (run, t, b) GROUP BY x.t ORDER BY x.t
        ON CONFLICT (tenant, writer, lane) DO UPDATE SET log_bytes = usage.log_bytes + excluded.log_bytes
        RETURNING tenant, log_bytes + blob_bytes AS bytes)
    SELECT json_object_agg(m.tenant, m.bytes + coalesce((SELECT sum(u.log_bytes + u.blob_bytes) FROM cairn.usage u
      WHERE u.tenant = m.tenant AND (u.writer, u.lane) <> (p_writer, p_lane)), 0)) INTO v_usage FROM mine m;
    RETURN v_usage;
  END $$;

  CREATE FUNCTION cairn.commit_more(p_runs bigint[], p_more jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_run bigint;
  BEGIN
    IF p_more ? 'records' THEN
      UPDATE cairn.runs r SET workflow = w.workflow, definition = w.definition, principal = w.principal, status = w.status,
          node = w.node, tags = w.tags, scope = w.scope, error_code = w.error_code, error_message = w.error_message,
          ended_at = w.ended_at, summary = w.summary
        FROM jsonb_to_recordset(p_more -> 'records') AS w (g integer, workflow text, definition text, principal text,
          status text, node text, tags text, scope text, error_code text, error_message text, ended_at bigint,
          summary text)
        WHERE r.key = p_runs[w.g + 1];
    END IF;
    IF p_more ? 'interrupts' THEN
      INSERT INTO cairn.interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant, title)
        SELECT p_runs[w.g + 1], w.id, w.node, w.kind, w.open, w.at, w.seq, w.votes, w.tenant, w.title FROM
          ROWS FROM (jsonb_to_recordset(p_more -> 'interrupts') AS (g integer, id text, node text, kind text, open smallint,
            at bigint, seq bigint, votes text, tenant text, title text)) WITH ORDINALITY
            AS w (g, id, node, kind, open, at, seq, votes, tenant, title, o) WHERE p_runs[w.g + 1] IS NOT NULL ORDER BY w.o
        ON CONFLICT (run, id) DO UPDATE SET open = excluded.open, requested_at = excluded.requested_at,
          seq = excluded.seq, votes = excluded.votes, tenant = excluded.tenant, title = excluded.title;
    END IF;
    IF p_more ? 'sessions' THEN
      INSERT INTO cairn.sessions (owner, until)
        -- A session that has nearly all of its time left stays as it is: batches would wait for its row.
        SELECT w.owner, max(w.until) FROM jsonb_to_recordset(p_more -> 'sessions') AS w (g integer, owner text, until bigint,
            enough bigint) LEFT JOIN cairn.sessions s ON s.owner = w.owner
          WHERE p_runs[w.g + 1] IS NOT NULL AND coalesce(s.until < w.enough, true) GROUP BY w.owner ORDER BY w.owner
        ON CONFLICT (owner) DO UPDATE SET until = greatest(sessions.until, excluded.until)
          WHERE sessions.until < excluded.until;
    END IF;
    IF p_more ? 'wakes' THEN
      UPDATE cairn.heads h SET wake_at = least(h.wake_at, w.at)
        FROM (SELECT r.key, min(x.at) AS at FROM jsonb_to_recordset(p_more -> 'wakes') AS x (g integer, id text, at bigint)
          JOIN cairn.runs r ON r.id = x.id WHERE p_runs[x.g + 1] IS NOT NULL GROUP BY r.key) w
        WHERE h.run = w.key AND NOT h.is_over;
    END IF;
    IF p_more ? 'idempotency' THEN
      INSERT INTO cairn.idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run)
        SELECT w.t, w.e, w.k, w.digest, w.state, w.owner, w.until, w.status, w.headers, w.body, w.at, p_runs[w.g + 1]
          FROM jsonb_to_recordset(p_more -> 'idempotency') AS w (g integer, t text, e text, k text, digest text, state text,
            owner text, until bigint, status integer, headers text, body text, at bigint)
          WHERE p_runs[w.g + 1] IS NOT NULL
        ON CONFLICT (tenant, endpoint, key) DO UPDATE SET digest = excluded.digest, state = excluded.state,
          owner = excluded.owner, lease_until = excluded.lease_until, status = excluded.status, headers = excluded.headers,
          body = excluded.body, at = excluded.at, run = excluded.run;
    END IF;
    IF p_more ? 'indexes' THEN
      INSERT INTO cairn.index_checkpoints (run, seq, body)
        SELECT p_runs[w.g + 1], w.seq, w.body FROM jsonb_to_recordset(p_more -> 'indexes') AS w (g integer, seq bigint, body text)
          WHERE p_runs[w.g + 1] IS NOT NULL
        ON CONFLICT (run, seq) DO UPDATE SET body = excluded.body;
    END IF;
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
