/** Purges runs: takes them out of the index, then turns their rows into tombstones and deletes what else they had. */
import type { RunId } from '@cairn/protocol';
import { UNNAMED_BLOB_MS } from '../../ports/blobs.ts';
import { forkGoesOn, type PurgeStep, stillActive } from '../../ports/purges.ts';
import type { Database, Queries } from '../database.ts';
import { loadHead } from '../heads.ts';
import { lockKey } from '../lock-key.ts';
import { addUsage } from '../records/blobs.ts';
import { encodeJson } from '../text-codec.ts';

/** Rows of one step, and the bytes from which on it takes no more. */
const STEP_ROWS = 256;
const STEP_BYTES = 1_048_576;

/** Runs below a run that one step retires. */
const STEP_RUNS = 32;

const nothing: PurgeStep = { events: 0, bytes: 0, memories: 0, retired: [], isDone: false };

export function retire(database: Database, runId: RunId, at: number): Promise<void> {
  return database.transaction(async (queries) => {
    const known = await loadHead(queries, runId);
    if (known === null) return;
    // Nobody forks a run of the tenant meanwhile, so that no fork is missed.
    await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [
      lockKey(`purge ${known.head.record.tenant}`),
    ]);
    await queries.rows('SELECT 1 FROM cairn.heads WHERE run = $1::bigint FOR UPDATE', [known.key]);
    const stored = await loadHead(queries, runId);
    if (stored === null) return;
    const { record } = stored.head;
    if (record.endedAt === null && record.importedAt === null) throw stillActive(record);
    const [fork] = await queries.rows<[RunId]>(ACTIVE_FORK, [stored.key]);
    if (fork !== undefined) throw forkGoesOn(runId, fork[0]);
    await retireRuns(queries, [runId], at);
  });
}

const ACTIVE_FORK = `WITH RECURSIVE tree (id, key) AS (
    SELECT id, key FROM cairn.runs WHERE key = $1::bigint
    UNION ALL SELECT r.id, r.key FROM tree JOIN cairn.runs r ON r.parent = tree.id)
  SELECT r.id FROM tree JOIN cairn.shared_rows s ON s.owner = tree.key JOIN cairn.runs r ON r.key = s.run
    WHERE r.ended_at IS NULL
  UNION ALL SELECT r.id FROM tree JOIN cairn.runs r ON r.fork_source = tree.id AND r.ended_at IS NULL
  LIMIT 1`;

async function retireRuns(queries: Queries, runIds: readonly RunId[], at: number): Promise<void> {
  await queries.changed(
    `INSERT INTO cairn.purged_runs SELECT r.key, r.id, r.tenant, r.context, r.origin, r.parent, r.fork_source, r.fork_seq,
         r.fork_mode, $2::bigint, h.seq, h.hash, true
       FROM cairn.runs r JOIN cairn.heads h ON h.run = r.key WHERE r.id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`,
    [encodeJson(runIds), at],
  );
  for (const [table, column] of [
    ['run_tags', 'run'],
    ['heads', 'run'],
    ['runs', 'key'],
  ]) {
    await queries.changed(
      `DELETE FROM cairn.${table} WHERE ${column} IN (SELECT p.key FROM cairn.purged_runs p
         WHERE p.id IN (SELECT jsonb_array_elements_text($1::text::jsonb)))`,
      [encodeJson(runIds)],
    );
  }
}

export function purgeSome(database: Database, writer: number, runId: RunId): Promise<PurgeStep> {
  return database.transaction(async (queries): Promise<PurgeStep> => {
    const [found] = await queries.rows<[key: number, tenant: string, purgedAt: number]>(
      'SELECT key, tenant, purged_at FROM cairn.purged_runs WHERE id = $1::text FOR UPDATE',
      [runId],
    );
    if (found === undefined) return { ...nothing, isDone: true };
    const [key, tenant, purgedAt] = found;
    const below = await queries.rows<[RunId]>(
      `SELECT id FROM cairn.runs WHERE parent = $1::text AND (ended_at IS NOT NULL OR imported_at IS NOT NULL)
         ORDER BY key LIMIT ${STEP_RUNS}`,
      [runId],
    );
    const retired = below.map(([id]) => id);
    if (retired.length > 0) {
      await retireRuns(queries, retired, purgedAt);
      return { ...nothing, retired };
    }
    if (await hasDroppedRecords(queries, key, runId)) return nothing;
    const rows = await buryRows(queries, key);
    if (rows !== null) {
      await addUsage(queries, { tenant, writer, bytes: 0, logBytes: -rows.bytes });
      return { ...nothing, ...rows };
    }
    if (await hasDroppedBlobs(queries, { key, tenant, writer, purgedAt })) return nothing;
    const memories = await dropMemories(queries, key);
    return { ...nothing, memories, isDone: memories === 0 };
  });
}

/** Small rows: all of a table at once. Checkpoints may have megabytes, so that they go a few at a time. */
async function hasDroppedRecords(queries: Queries, key: number, runId: RunId): Promise<boolean> {
  let dropped = 0;
  for (const table of ['interrupts', 'idempotency', 'index_checkpoints', 'artifacts'])
    dropped += await queries.changed(`DELETE FROM cairn.${table} WHERE run = $1::bigint`, [key]);
  dropped += await queries.changed(
    `DELETE FROM cairn.checkpoints WHERE run = $1::text AND seq IN
       (SELECT seq FROM cairn.checkpoints WHERE run = $1::text LIMIT 8)`,
    [runId],
  );
  return dropped > 0;
}

async function buryRows(
  queries: Queries,
  key: number,
): Promise<{ readonly events: number; readonly bytes: number } | null> {
  const [[events, bytes] = [0, 0]] = await queries.rows<[number, number]>(
    `WITH chosen AS (
       SELECT seq FROM (SELECT seq, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM (
           SELECT seq, bytes FROM cairn.events WHERE run = $1::bigint ORDER BY seq LIMIT ${STEP_ROWS}) page) counted
         WHERE before < ${STEP_BYTES}
     ), gone AS (
       DELETE FROM cairn.events e USING chosen WHERE e.run = $1::bigint AND e.seq = chosen.seq
         RETURNING e.run, e.seq, e.cursor, e.at, e.audience, e.type, e.node, e.cause, e.row_hash, e.hash, e.bytes
     ), buried AS (
       INSERT INTO cairn.tombstones (run, seq, cursor, at, audience, type, node, cause, row_hash, hash)
         SELECT run, seq, cursor, at, audience, type, node, cause, row_hash, hash FROM gone
     )
     SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone`,
    [key],
  );
  return events === 0 ? null : { events, bytes };
}

interface PurgedBlobs {
  readonly key: number;
  readonly tenant: string;
  readonly writer: number;
  readonly purgedAt: number;
}

/** A writer may have put a blob again just now and name it next; if it does not, the sweep removes it. */
async function hasDroppedBlobs(queries: Queries, { key, tenant, writer, purgedAt }: PurgedBlobs): Promise<boolean> {
  const refs = await queries.rows<[blob: number]>(
    `DELETE FROM cairn.blob_refs WHERE run = $1::bigint AND blob IN
       (SELECT blob FROM cairn.blob_refs WHERE run = $1::bigint ORDER BY blob LIMIT 64) RETURNING blob`,
    [key],
  );
  if (refs.length === 0) return false;
  const named = encodeJson(refs.map(([blob]) => blob));
  await queries.changed(
    'UPDATE cairn.blobs SET refs = refs - 1 WHERE key IN (SELECT jsonb_array_elements_text($1::text::jsonb)::bigint)',
    [named],
  );
  const dropped = await queries.rows<[key: number, bytes: number]>(
    `DELETE FROM cairn.blobs WHERE key IN (SELECT jsonb_array_elements_text($1::text::jsonb)::bigint) AND refs = 0
       AND put_at <= $2::bigint RETURNING key, bytes`,
    [named, purgedAt - UNNAMED_BLOB_MS],
  );
  for (const [blob, bytes] of dropped) {
    await queries.changed('DELETE FROM cairn.blob_bodies WHERE blob = $1::bigint', [blob]);
    await addUsage(queries, { tenant, writer, bytes: -bytes });
  }
  return true;
}

/** Memories that a purged run kept and that were dropped since. Others belong to their agent and stay. */
async function dropMemories(queries: Queries, key: number): Promise<number> {
  const dropped = await queries.rows<[cursor: number, scope: number, id: string]>(
    `DELETE FROM cairn.memory_entries WHERE cursor IN (
       SELECT e.cursor FROM cairn.memory_entries e JOIN cairn.memory_drops d ON d.scope = e.scope AND d.id = e.id
         WHERE e.run = $1::bigint LIMIT ${STEP_ROWS}) RETURNING cursor, scope, id`,
    [key],
  );
  for (const [cursor, scope, id] of dropped) {
    await queries.changed('DELETE FROM cairn.memory_tags WHERE entry = $1::bigint', [cursor]);
    await queries.changed('DELETE FROM cairn.memory_drops WHERE scope = $1::bigint AND id = $2::text', [scope, id]);
  }
  return dropped.length;
}
