/** Claims runs in one round trip. Rows that another node is claiming are passed over, never waited for. */
export const queueFunction = `
  -- Owners of leases, one index step each.
  CREATE FUNCTION cairn.owners() RETURNS TABLE (owner text, until bigint) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE held (owner) AS (
      (SELECT h.owner FROM cairn.heads h WHERE h.owner IS NOT NULL ORDER BY h.owner LIMIT 1)
      UNION ALL
      SELECT (SELECT h.owner FROM cairn.heads h WHERE h.owner IS NOT NULL AND h.owner > held.owner ORDER BY h.owner LIMIT 1)
        FROM held WHERE held.owner IS NOT NULL)
    SELECT held.owner, coalesce(s.until, 0) FROM held LEFT JOIN cairn.sessions s ON s.owner = held.owner
      WHERE held.owner IS NOT NULL;
  $$;

  -- Due runs that nobody holds. If more are due than asked for, each tenant gets its turn.
  CREATE FUNCTION cairn.due_runs(p_now bigint, p_limit bigint) RETURNS TABLE (run bigint, place bigint)
    LANGUAGE plpgsql STABLE AS $$
  BEGIN
    IF (SELECT count(*) <= p_limit FROM (SELECT 1 FROM cairn.heads h WHERE h.owner IS NULL AND h.wake_at IS NOT NULL
        AND h.wake_at <= p_now LIMIT p_limit + 1) few) THEN
      RETURN QUERY SELECT h.run, row_number() OVER (ORDER BY h.wake_at, h.run) FROM cairn.heads h
        WHERE h.owner IS NULL AND h.wake_at IS NOT NULL AND h.wake_at <= p_now ORDER BY h.wake_at, h.run;
      RETURN;
    END IF;
    RETURN QUERY WITH RECURSIVE waiting (tenant) AS (
        (SELECT h.tenant FROM cairn.heads h WHERE h.owner IS NULL AND h.wake_at IS NOT NULL ORDER BY h.tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT h.tenant FROM cairn.heads h WHERE h.owner IS NULL AND h.wake_at IS NOT NULL
          AND h.tenant > waiting.tenant ORDER BY h.tenant LIMIT 1) FROM waiting WHERE waiting.tenant IS NOT NULL
      ), tenants AS (
        SELECT w.tenant, (SELECT h.wake_at FROM cairn.heads h WHERE h.owner IS NULL AND h.wake_at IS NOT NULL
            AND h.tenant = w.tenant ORDER BY h.wake_at LIMIT 1) AS at
          FROM waiting w WHERE w.tenant IS NOT NULL
      ), first AS (SELECT t.tenant, t.at FROM tenants t WHERE t.at <= p_now ORDER BY t.at, t.tenant LIMIT p_limit)
      SELECT x.run, row_number() OVER (ORDER BY x.turn, x.at, x.tenant) FROM (
        SELECT h.run, f.at, f.tenant, h.turn FROM first f CROSS JOIN LATERAL (
          SELECT o.run, row_number() OVER (ORDER BY o.wake_at, o.run) AS turn FROM (
            SELECT h.run, h.wake_at FROM cairn.heads h WHERE h.owner IS NULL AND h.wake_at IS NOT NULL
              AND h.tenant = f.tenant AND h.wake_at <= p_now ORDER BY h.wake_at, h.run LIMIT p_limit) o) h) x
      ORDER BY 2 LIMIT p_limit;
  END $$;

  -- Tells whose session ended with a run: that node may have died of it.
  CREATE FUNCTION cairn.claim(p_owner text, p_now bigint, p_until bigint, p_limit bigint)
    RETURNS TABLE (id text, tenant text, fence bigint, former text) LANGUAGE plpgsql AS $$
  DECLARE
    v_runs bigint[];
    v_formers text[];
    v_due bigint[];
  BEGIN
    INSERT INTO cairn.sessions AS s (owner, until) VALUES (p_owner, p_until)
      ON CONFLICT (owner) DO UPDATE SET until = excluded.until WHERE s.until < excluded.until;
    SELECT coalesce(array_agg(x.run), '{}'), coalesce(array_agg(x.owner), '{}') INTO v_runs, v_formers FROM (
      SELECT h.run, h.owner FROM cairn.heads h WHERE h.owner IN (SELECT o.owner FROM cairn.owners() o WHERE o.until <= p_now)
        ORDER BY h.owner, h.run LIMIT p_limit FOR UPDATE SKIP LOCKED) x;
    IF cardinality(v_runs) < p_limit THEN
      SELECT coalesce(array_agg(x.run ORDER BY x.place), '{}') INTO v_due FROM (
        SELECT h.run, d.place FROM cairn.due_runs(p_now, p_limit - cardinality(v_runs)) d JOIN cairn.heads h ON h.run = d.run
          WHERE h.owner IS NULL AND h.wake_at <= p_now FOR UPDATE OF h SKIP LOCKED) x;
      v_runs := v_runs || v_due;
    END IF;
    RETURN QUERY WITH leased AS (
        UPDATE cairn.heads h SET owner = p_owner, fence = h.fence + 1, wake_at = NULL WHERE h.run = ANY (v_runs)
          RETURNING h.run, h.tenant, h.fence)
      SELECT r.id, l.tenant, l.fence, v_formers[array_position(v_runs, l.run)] FROM leased l
        JOIN cairn.runs r ON r.key = l.run ORDER BY array_position(v_runs, l.run);
  END $$;`;
