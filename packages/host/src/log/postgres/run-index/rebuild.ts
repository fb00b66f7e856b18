/** Rebuilds run list, inbox, memories and artifacts from the rows, one run in each transaction. */
import type { RunId } from '@cairn/protocol';
import { artifactChanges, isArtifactRow } from '../../artifact-changes.ts';
import { asksNobody, type FullIndex, indexedTypes, reindex, sameIndex } from '../../fold-run-index.ts';
import { DROPPED, isMemoryRow, KEPT, memoryChanges } from '../../memory-changes.ts';
import type { Row } from '../../ports/rows.ts';
import type { Rebuilt, RunRecord } from '../../ports/run-index.ts';
import { summaryText } from '../../run-columns.ts';
import type { Database, Queries } from '../database.ts';
import { isPurged, stretchesJson, stretchesOf } from '../forks/stretches.ts';
import { type HeadCache, loadHead } from '../heads.ts';
import { ROW_COLUMNS, type RowColumns, rowOf, views } from '../rows/columns.ts';
import { encodeJson } from '../text-codec.ts';
import { interruptsOf } from './inbox.ts';
import { repairArtifacts, repairMemories } from './repair-records.ts';

/** Runs looked up at a time. */
const PAGE_RUNS = 500;

/** The rows that any fold here looks at. The others are the bulk of a long run. */
const FOLDED = [
  ...indexedTypes,
  'cairn.run.forked',
  'cairn.artifact.chunk',
  'cairn.artifact.rows',
  'artifact.created',
  KEPT,
  DROPPED,
];

export async function rebuild(database: Database, heads: HeadCache): Promise<Rebuilt> {
  let [runs, repaired, after] = [0, 0, 0];
  for (;;) {
    const page = await database.rows<[key: number, id: RunId]>(
      `SELECT key, id FROM cairn.runs WHERE key > $1::bigint ORDER BY key LIMIT ${PAGE_RUNS}`,
      [after],
    );
    for (const [, runId] of page) {
      if (await database.transaction((queries) => rebuildRun(queries, runId))) repaired += 1;
      heads.forget(runId);
    }
    runs += page.length;
    after = page.at(-1)?.[0] ?? after;
    if (page.length < PAGE_RUNS) return { runs, repaired };
  }
}

/** Returns whether anything was wrong. */
async function rebuildRun(queries: Queries, runId: RunId): Promise<boolean> {
  await queries.rows(
    'SELECT 1 FROM cairn.heads WHERE run = (SELECT key FROM cairn.runs WHERE id = $1::text) FOR UPDATE',
    [runId],
  );
  const stored = await loadHead(queries, runId);
  if (stored === null) return false;
  const { key, head } = stored;
  const { record } = head;
  const stretches = await stretchesOf(queries, runId);
  // A fork whose shared rows were purged keeps the index that it had: it cannot be folded any more.
  if (record.fork !== null && (await isPurged(queries, stretches))) return false;
  const rows = await foldedRows(queries, record, stretchesJson(stretches));
  const fresh = reindex(record, rows);
  const interrupts = new Map((await interruptsOf(queries, runId)).map((one) => [one.interruptId, one]));
  const firstOwnSeq = record.fork?.fromSeq ?? 0;
  const ownRows = rows.filter((row) => isMemoryRow(row) && row.seq >= firstOwnSeq);
  const isArtifactWrong = await repairArtifacts(queries, key, record, artifactChanges(rows.filter(isArtifactRow)));
  const isMemoryWrong = await repairMemories(
    queries,
    key,
    record.tenant,
    asksNobody(record) ? [] : memoryChanges(ownRows),
  );
  if (sameIndex(fresh, { record, interrupts }) && (await isListedRight(queries, key)))
    return isArtifactWrong || isMemoryWrong;
  await store(queries, key, fresh);
  return true;
}

async function foldedRows(queries: Queries, { runId, contextId }: RunRecord, stretches: string): Promise<Row[]> {
  const found = await queries.rows<RowColumns>(
    `SELECT ${ROW_COLUMNS} FROM (
       SELECT ${views.all.columns} FROM jsonb_to_recordset($1::text::jsonb) AS s (owner bigint, from_seq bigint, through bigint)
         JOIN cairn.events e ON e.run = s.owner AND e.seq >= s.from_seq AND e.seq < s.through
         WHERE e.seq = 0 OR e.type IN (SELECT jsonb_array_elements_text($2::text::jsonb))) found ORDER BY seq`,
    [stretches, encodeJson(FOLDED)],
  );
  return found.map((columns) => rowOf(runId, contextId, columns));
}

/** Whether tags and the waits of the runs below agree with the row of a run. */
async function isListedRight(queries: Queries, key: number): Promise<boolean> {
  const [found] = await queries.rows<[boolean]>(
    `SELECT r.child_wait IS NOT DISTINCT FROM CASE WHEN r.imported_at IS NULL THEN (
         SELECT c.shown FROM cairn.runs c WHERE c.parent = r.id AND c.imported_at IS NULL
           AND c.shown IN ('waiting-approval', 'waiting-input', 'waiting-external') ORDER BY c.key LIMIT 1) END
       AND (SELECT count(*) FROM cairn.run_tags t WHERE t.run = r.key AND t.workflow = r.workflow AND t.shown = r.shown
           AND t.tenant = r.tenant AND r.tags::jsonb ? t.tag)
         = (SELECT count(DISTINCT tag) FROM jsonb_array_elements_text(r.tags::jsonb) AS tag)
       AND (SELECT count(*) FROM cairn.run_tags t WHERE t.run = r.key)
         = (SELECT count(DISTINCT tag) FROM jsonb_array_elements_text(r.tags::jsonb) AS tag)
     FROM cairn.runs r WHERE r.key = $1::bigint`,
    [key],
  );
  return found?.[0] === true;
}

async function store(queries: Queries, key: number, { record, interrupts }: FullIndex): Promise<void> {
  const { workflowId, definitionHash, principal, status, currentNodeId, errorCode, errorMessage } = record;
  await queries.changed(
    `UPDATE cairn.runs SET workflow = $2::text, definition = $3::text, principal = $4::text, status = $5::text, node = $6::text,
         tags = $7::text, error_code = $8::text, error_message = $9::text, created_at = $10::bigint, ended_at = $11::bigint,
         scope = $12::text, summary = $13::text, child_wait = CASE WHEN imported_at IS NULL THEN (
           SELECT c.shown FROM cairn.runs c WHERE c.parent = runs.id AND c.imported_at IS NULL
             AND c.shown IN ('waiting-approval', 'waiting-input', 'waiting-external') ORDER BY c.key LIMIT 1) END
       WHERE key = $1::bigint`,
    [
      ...[key, workflowId, definitionHash, principal, status, currentNodeId, JSON.stringify(record.tags)],
      ...[errorCode, errorMessage, record.createdAt, record.endedAt, record.scopeId, summaryText(record.summary)],
    ],
  );
  const isOver = record.endedAt !== null || record.importedAt !== null;
  await queries.changed(
    `UPDATE cairn.heads SET is_over = $2::boolean, owner = CASE WHEN $2::boolean THEN NULL ELSE owner END,
       wake_at = CASE WHEN $2::boolean THEN NULL ELSE wake_at END WHERE run = $1::bigint`,
    [key, isOver],
  );
  await queries.changed('DELETE FROM cairn.interrupts WHERE run = $1::bigint', [key]);
  const tenant = asksNobody(record) ? null : record.tenant;
  for (const { interruptId, nodeId, kind, title, open, requestedAt, seq, votes } of interrupts.values()) {
    await queries.changed(
      `INSERT INTO cairn.interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant, title) VALUES
         ($1::bigint, $2::text, $3::text, $4::text, $5::smallint, $6::bigint, $7::bigint, $8::text, $9::text, $10::text)`,
      [key, interruptId, nodeId, kind, open ? 1 : 0, requestedAt, seq, JSON.stringify(votes), tenant, title],
    );
  }
  await queries.changed('DELETE FROM cairn.index_checkpoints WHERE run = $1::bigint', [key]);
  await queries.rows('SELECT cairn.relist($1::bigint)::text', [key]);
}
