/** Binary search over the rows of a run: within a run, cursors grow with seq. Rows that were purged keep their place. */
export const rowsFunction = `
  CREATE FUNCTION cairn.first_after(p_run bigint, p_from bigint, p_through bigint, p_cursor bigint)
    RETURNS bigint LANGUAGE plpgsql STABLE AS $$
  DECLARE
    low bigint := p_from;
    high bigint;
    middle bigint;
    found bigint;
  BEGIN
    SELECT least(p_through, greatest(p_from, coalesce((SELECT max(seq) FROM cairn.events WHERE run = p_run),
      (SELECT max(seq) FROM cairn.tombstones WHERE run = p_run), p_from - 1) + 1)) INTO high;
    WHILE low < high LOOP
      middle := (low + high) / 2;
      SELECT cursor INTO found FROM cairn.events WHERE run = p_run AND seq = middle;
      IF found IS NULL THEN
        SELECT cursor INTO found FROM cairn.tombstones WHERE run = p_run AND seq = middle;
      END IF;
      IF found <= p_cursor THEN low := middle + 1; ELSE high := middle; END IF;
    END LOOP;
    RETURN low;
  END $$;`;
