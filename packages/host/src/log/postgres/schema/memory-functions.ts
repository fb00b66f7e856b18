/** Memories and artifacts change in the transaction of the rows that change them. */

/** Only the first row that keeps or drops an id counts. The cursor is that of the row. */
export const memoryFunctions = `
  CREATE FUNCTION cairn.keep_memories(p_runs bigint[], p_changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    m record;
    v_scope bigint;
    v_cursor bigint;
  BEGIN
    FOR m IN SELECT * FROM jsonb_to_recordset(p_changes) AS x (g integer, kind text, t text, ref text, id text, seq bigint,
        turn text, content text, tags text, at bigint, expires bigint, words text) LOOP
      CONTINUE WHEN p_runs[m.g + 1] IS NULL;
      SELECT key INTO v_scope FROM cairn.memory_scopes WHERE tenant = m.t AND ref = m.ref;
      IF v_scope IS NULL THEN
        INSERT INTO cairn.memory_scopes (tenant, ref) VALUES (m.t, m.ref) RETURNING key INTO v_scope;
      END IF;
      SELECT cursor INTO v_cursor FROM cairn.events WHERE run = p_runs[m.g + 1] AND seq = m.seq;
      IF m.kind = 'dropped' THEN
        INSERT INTO cairn.memory_drops (scope, id, cursor, run, seq, turn)
          VALUES (v_scope, m.id, v_cursor, p_runs[m.g + 1], m.seq, m.turn) ON CONFLICT DO NOTHING;
        CONTINUE;
      END IF;
      INSERT INTO cairn.memory_entries (cursor, scope, id, run, seq, turn, content, tags, at, expires_at, words)
        VALUES (v_cursor, v_scope, m.id, p_runs[m.g + 1], m.seq, m.turn, m.content, m.tags, m.at, m.expires,
          replace(m.words, '@', v_scope::text)::tsvector) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        INSERT INTO cairn.memory_tags (scope, tag, entry)
          SELECT v_scope, tag, v_cursor FROM jsonb_array_elements_text(m.tags::jsonb) AS tag ON CONFLICT DO NOTHING;
      END IF;
    END LOOP;
  END $$;`;

/** A piece out of order changes nothing: its version never becomes complete. */
export const artifactFunctions = `
  CREATE FUNCTION cairn.apply_artifacts(p_runs bigint[], p_pieces jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    a record;
    v_run bigint;
    v_version bigint;
    v_before record;
  BEGIN
    FOR a IN SELECT * FROM jsonb_to_recordset(p_pieces) AS x (g integer, c text, "artifactId" text, version bigint, index bigint,
        "isLast" boolean, family text, size bigint, name text, "mimeType" text, seq bigint, at bigint) LOOP
      v_run := p_runs[a.g + 1];
      CONTINUE WHEN v_run IS NULL;
      UPDATE cairn.contexts SET edition = edition + 1 WHERE id = a.c;
      v_version := coalesce(a.version, (SELECT max(version) FROM cairn.artifacts
        WHERE context = a.c AND id = a."artifactId" AND pieces > 0), 0);
      IF a.index > 0 THEN
        UPDATE cairn.artifacts SET pieces = pieces + 1, last_seq = a.seq, size = artifacts.size + a.size, updated_at = a.at,
            state = CASE WHEN a."isLast" THEN 'complete' ELSE 'open' END
          WHERE context = a.c AND id = a."artifactId" AND version = v_version AND run = v_run AND state = 'open'
            AND pieces = a.index;
        -- A replay that is cut within a version ends it as its source did.
        IF NOT FOUND AND a."isLast" THEN
          INSERT INTO cairn.artifacts SELECT a.c, o.id, o.version, o.family, v_run, NULL, NULL, o.state, o.first_seq, o.last_seq,
              o.pieces, o.size, o.name, o.mime, o.updated_at
            FROM cairn.artifacts o WHERE o.id = a."artifactId" AND o.version = v_version AND o.last_seq = a.seq
              AND o.state = 'complete' AND o.run = (SELECT source.key FROM cairn.runs r
                JOIN cairn.runs source ON source.id = r.fork_source
                WHERE r.key = v_run AND r.fork_mode = 'replay' AND r.fork_seq <= a.seq)
            ON CONFLICT DO NOTHING;
        END IF;
        CONTINUE;
      END IF;
      IF a.version IS NULL THEN
        v_version := v_version + 1;
      END IF;
      SELECT name, mime INTO v_before FROM cairn.artifacts
        WHERE context = a.c AND id = a."artifactId" AND version < v_version AND pieces > 0 ORDER BY version DESC LIMIT 1;
      UPDATE cairn.artifacts SET state = 'abandoned' WHERE context = a.c AND id = a."artifactId" AND version < v_version
        AND state IN ('open', 'claimed') AND run = v_run;
      INSERT INTO cairn.artifacts AS old (context, id, version, family, run, state, first_seq, last_seq, pieces, size, name, mime,
          updated_at)
        VALUES (a.c, a."artifactId", v_version, a.family, v_run, CASE WHEN a."isLast" THEN 'complete' ELSE 'open' END, a.seq,
          a.seq, 1, a.size, coalesce(a.name, v_before.name), coalesce(a."mimeType", v_before.mime), a.at)
        ON CONFLICT (context, id, version) DO UPDATE SET state = excluded.state, first_seq = excluded.first_seq,
          last_seq = excluded.last_seq, pieces = 1, size = excluded.size, name = excluded.name, mime = excluded.mime,
          family = excluded.family, updated_at = excluded.updated_at
          WHERE old.run = excluded.run AND old.state IN ('claimed', 'cut');
    END LOOP;
  END $$;`;
