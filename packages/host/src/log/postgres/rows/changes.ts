/** Reads the rows of all runs by cursor, up to where the log is settled: every row, or those of one tenant and some types. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Changes, ChangesRange } from '../../ports/changes.ts';
import { pageBytes } from '../../ports/event-log.ts';
import { bodySize, type Row } from '../../ports/rows.ts';
import type { Queries } from '../database.ts';
import type { Horizon } from '../horizon.ts';
import { encodeJson } from '../text-codec.ts';
import { ROW_COLUMNS, type RowColumns, rowOf, type View, views } from './columns.ts';

type Found = [...RowColumns, runId: RunId, contextId: ContextId, isShown: boolean];

/** `before` counts the bytes of the rows before one, those that are not shown among them. */
const ALL = `SELECT ${ROW_COLUMNS}, run_id, context_id, is_shown FROM (
    SELECT *, sum(size) OVER (ORDER BY cursor) - size AS before FROM (
      SELECT ${views.all.columns}, CASE WHEN r.imported_at IS NULL THEN ${views.all.size} ELSE 0 END AS size, r.id AS run_id,
        r.context AS context_id, r.imported_at IS NULL AS is_shown
      FROM cairn.events e JOIN cairn.runs r ON r.key = e.run
      WHERE e.cursor > $1::bigint AND e.cursor <= $2::bigint ORDER BY e.cursor LIMIT $3::bigint) found
  ) counted WHERE before < $4::bigint ORDER BY cursor`;

const filtered = ({ columns, size }: View): string => `SELECT ${ROW_COLUMNS}, run_id, context_id, true FROM (
    SELECT *, sum(size) OVER (ORDER BY cursor) - size AS before FROM (
      SELECT ${columns}, ${size} AS size, r.id AS run_id, r.context AS context_id
      FROM cairn.events e JOIN cairn.runs r ON r.key = e.run
      WHERE e.cursor > $1::bigint AND e.cursor <= $2::bigint AND e.audience = 0 AND r.imported_at IS NULL
        AND r.tenant = $5::text AND e.type IN (SELECT jsonb_array_elements_text($6::text::jsonb))
      ORDER BY e.cursor LIMIT $3::bigint) found
  ) counted WHERE before < $4::bigint ORDER BY cursor`;

const FILTERED = filtered(views.all);
const FILTERED_PLACES = filtered(views.places);

export async function readChanges(queries: Queries, horizon: Horizon, range: ChangesRange): Promise<Changes> {
  const { filter, limit, after: position, isForPlaces } = range;
  const after = Number(position);
  const maxBytes = pageBytes(range.maxBytes);
  const end = await horizon.end();
  if (end <= after) return { rows: [], position };
  // With a filter the limit bounds the scanned cursors, which may have gaps.
  const through = filter === null ? end : Math.min(after + limit, end);
  const found =
    filter === null
      ? await queries.rows<Found>(ALL, [after, through, limit, maxBytes])
      : await queries.rows<Found>(isForPlaces === true ? FILTERED_PLACES : FILTERED, [
          after,
          through,
          limit,
          maxBytes,
          filter.tenant,
          encodeJson(filter.types),
        ]);
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of found) {
    if (!row[14]) continue;
    const shown = rowOf(row[12], row[13], row);
    bytes += bodySize(shown);
    rows.push(shown);
  }
  // A page that its bounds ended goes on after its last row. Otherwise nothing is left of the range.
  const isCut = bytes >= maxBytes || (filter === null && found.length >= limit);
  const last = found.at(-1)?.[1] ?? after;
  return { rows, position: String(isCut ? last : through) };
}
