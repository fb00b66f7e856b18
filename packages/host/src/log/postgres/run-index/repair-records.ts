/** Makes memories and artifacts match the rows of a run. */
import type { ArtifactChange } from '../../artifact-changes.ts';
import type { MemoryChange } from '../../memory-changes.ts';
import type { RunRecord } from '../../ports/run-index.ts';
import type { Queries } from '../database.ts';
import { memoryChange } from '../memories/memory-words.ts';
import { encodeJson } from '../text-codec.ts';

const MEMORIES = `SELECT coalesce((SELECT json_agg(json_build_array(e.cursor, s.tenant, s.ref, e.id, e.seq, e.turn, e.content, e.tags,
      e.at, e.expires_at, e.words::text, (SELECT json_agg(t.tag ORDER BY t.tag) FROM cairn.memory_tags t WHERE t.entry = e.cursor))
      ORDER BY e.cursor)
    FROM cairn.memory_entries e JOIN cairn.memory_scopes s ON s.key = e.scope WHERE e.run = $1::bigint)::text, '')
  || coalesce((SELECT json_agg(json_build_array(d.cursor, s.tenant, s.ref, d.id, d.seq, d.turn) ORDER BY d.cursor)
    FROM cairn.memory_drops d JOIN cairn.memory_scopes s ON s.key = d.scope WHERE d.run = $1::bigint)::text, '')`;

const ARTIFACTS = `SELECT coalesce(json_agg(json_build_array(id, version, family, replace(state, 'abandoned', 'open'), first_seq,
    last_seq, pieces, size, name, mime, updated_at) ORDER BY id, version)::text, '')
  FROM cairn.artifacts WHERE run = $1::bigint AND pieces > 0`;

async function textOf(queries: Queries, sql: string, key: number): Promise<string> {
  const [[text] = ['']] = await queries.rows<[string]>(sql, [key]);
  return text;
}

/** Returns whether they differed. */
export async function repairMemories(
  queries: Queries,
  key: number,
  tenant: string,
  changes: readonly MemoryChange[],
): Promise<boolean> {
  const before = await textOf(queries, MEMORIES, key);
  if (changes.length === 0 && before === '') return false;
  await queries.changed(
    'DELETE FROM cairn.memory_tags WHERE entry IN (SELECT cursor FROM cairn.memory_entries WHERE run = $1::bigint)',
    [key],
  );
  await queries.changed('DELETE FROM cairn.memory_drops WHERE run = $1::bigint', [key]);
  await queries.changed('DELETE FROM cairn.memory_entries WHERE run = $1::bigint', [key]);
  const kept = changes.map((change) => ({ g: 0, t: tenant, ...memoryChange(change) }));
  await queries.rows('SELECT cairn.keep_memories(ARRAY[$1::bigint], $2::text::jsonb)::text', [key, encodeJson(kept)]);
  return (await textOf(queries, MEMORIES, key)) !== before;
}

/** Returns whether they differed. Rows that a fork shares come first, and are cut as they were when it began. */
export async function repairArtifacts(
  queries: Queries,
  key: number,
  { contextId, fork }: RunRecord,
  changes: readonly ArtifactChange[],
): Promise<boolean> {
  const before = await textOf(queries, ARTIFACTS, key);
  if (changes.length === 0 && before === '') return false;
  const apply = async (some: readonly ArtifactChange[]): Promise<void> => {
    const pieces = some.map((piece) => ({ g: 0, c: contextId, ...piece }));
    await queries.rows('SELECT cairn.apply_artifacts(ARRAY[$1::bigint], $2::text::jsonb)::text', [
      key,
      encodeJson(pieces),
    ]);
  };
  const fromSeq = fork?.fromSeq ?? 0;
  await queries.changed('DELETE FROM cairn.artifacts WHERE run = $1::bigint AND pieces > 0', [key]);
  await apply(changes.filter(({ seq }) => seq < fromSeq));
  if (fork?.mode === 'branch') {
    await queries.changed(
      `UPDATE cairn.artifacts SET state = 'cut', last_seq = first_seq, pieces = 1, size = 0, updated_at = 0
         WHERE run = $1::bigint AND pieces > 0 AND state <> 'complete'`,
      [key],
    );
  }
  await apply(changes.filter(({ seq }) => seq >= fromSeq));
  if (fork?.mode === 'replay') {
    await queries.changed(
      `DELETE FROM cairn.artifacts WHERE run = $1::bigint AND pieces > 0 AND state <> 'complete' AND first_seq < $2::bigint`,
      [key, fromSeq],
    );
  }
  return (await textOf(queries, ARTIFACTS, key)) !== before;
}
