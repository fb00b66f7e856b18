/** Agent memories in Postgres: read by position, searched by word. */
import type { AsOf, Memories, MemoryRecord, MemoryRecordQuery } from '../../ports/memories.ts';
import { type MemoryColumns, memoryOf } from '../../record-columns.ts';
import { phrasesIn } from '../../search-words.ts';
import type { Database, Queries, Value } from '../database.ts';
import { encodeJson } from '../text-codec.ts';
import { forkView } from './fork-view.ts';
import { queryOf } from './memory-words.ts';

/**
 * A phrase found in more entries than this carries little information, and ranking it costs milliseconds. A search
 * includes it only while all its phrases together stay below this, or when there is no rarer phrase.
 */
const MANY = 5_000;

/** Entries of a memory that are counted to weigh a phrase. */
const COUNTED = 20_000;

/** Entries ranked by one search: the newest that contain a phrase. */
const WEIGHED = 1_000;

const COLUMNS = 'e.id, e.content, e.tags, e.at, e.expires_at';

/** What a reader sees of a memory. The first eight parameters of every statement. */
interface Visibility {
  readonly scope: number;
  readonly now: number;
  /** Changes up to this cursor are seen. */
  readonly start: number;
  readonly runId: string;
  readonly before: number;
  readonly asked: number;
  readonly turn: string | null;
  /** Of a fork: each run whose changes it sees, the seq before which they are, and whether turns count. */
  readonly seen: string | null;
}

const parametersOf = ({ scope, now, start, runId, before, asked, turn, seen }: Visibility): readonly Value[] => [
  scope,
  now,
  start,
  runId,
  before,
  asked,
  turn,
  seen,
];

/** The ended descendants of the reading run that wrote to the memory since it started. */
const ENDED_BELOW = `WITH RECURSIVE above (run, parent) AS (
    SELECT w.key, w.parent FROM cairn.runs w
      WHERE w.key IN (SELECT m.run FROM cairn.memory_entries m WHERE m.scope = $1::bigint AND m.cursor > $3::bigint
                      UNION SELECT m.run FROM cairn.memory_drops m WHERE m.scope = $1::bigint AND m.cursor > $3::bigint)
        AND w.ended_at IS NOT NULL
        AND (SELECT l.cursor FROM cairn.events l WHERE l.run = w.key ORDER BY l.seq DESC LIMIT 1) < $6::bigint
    UNION ALL SELECT above.run, u.parent FROM above JOIN cairn.runs u ON u.id = above.parent)
  SELECT above.run FROM above WHERE above.parent = $4::text`;

const seen = (of: string): string =>
  `(${of}.cursor <= $3::bigint
    OR CASE WHEN $8::text IS NULL THEN
      (${of}.run = (SELECT key FROM cairn.runs WHERE id = $4::text) AND ${of}.seq < $5::bigint
         AND ${of}.turn IS DISTINCT FROM $7::text)
      OR (${of}.run <> (SELECT key FROM cairn.runs WHERE id = $4::text) AND ${of}.run IN (${ENDED_BELOW}))
    ELSE EXISTS (SELECT 1 FROM jsonb_to_recordset($8::text::jsonb) AS s (run bigint, before bigint, turns boolean)
      WHERE s.run = ${of}.run AND ${of}.seq < s.before AND (NOT s.turns OR ${of}.turn IS DISTINCT FROM $7::text)) END)`;

const VISIBLE = `${seen('e')} AND (e.expires_at IS NULL OR e.expires_at > $2::bigint)
  AND NOT EXISTS (SELECT 1 FROM cairn.memory_drops d WHERE d.scope = e.scope AND d.id = e.id AND ${seen('d')})`;

const NEWEST = `SELECT ${COLUMNS} FROM cairn.memory_entries e WHERE e.scope = $1::bigint AND ${VISIBLE}
  ORDER BY e.cursor DESC LIMIT $9::bigint`;

const TAGGED = `SELECT ${COLUMNS} FROM cairn.memory_tags t JOIN cairn.memory_entries e ON e.cursor = t.entry
  WHERE t.scope = $1::bigint AND t.tag = $10::text AND ${VISIBLE} ORDER BY t.entry DESC LIMIT $9::bigint`;

const ONE = `SELECT ${COLUMNS} FROM cairn.memory_entries e WHERE e.scope = $1::bigint AND e.id = $9::text AND ${VISIBLE}`;

const BEST = `SELECT ${COLUMNS} FROM (
    SELECT e.*, (SELECT sum(p.weight * ts_rank(e.words, p.words::tsquery, 1))
        FROM jsonb_to_recordset($12::text::jsonb) AS p (words text, weight double precision)
        WHERE e.words @@ p.words::tsquery) AS score FROM cairn.memory_entries e
      WHERE e.words @@ $11::text::tsquery AND e.scope = $1::bigint AND ${VISIBLE}
        AND ($10::text IS NULL OR EXISTS (SELECT 1 FROM cairn.memory_tags t
          WHERE t.scope = $1::bigint AND t.tag = $10::text AND t.entry = e.cursor))
      ORDER BY e.cursor DESC LIMIT ${WEIGHED}) e
  ORDER BY e.score DESC, e.cursor DESC LIMIT $9::bigint`;

export function postgresMemories(database: Database): Memories {
  const reading = async (
    asked: Omit<MemoryRecordQuery, 'limit'>,
    find: (visible: Visibility) => Promise<readonly MemoryColumns[]>,
  ): Promise<readonly MemoryRecord[]> => {
    const visible = await visibility(database, asked);
    return visible === null ? [] : (await find(visible)).map(memoryOf);
  };
  return {
    list: ({ tag, limit, ...asked }) =>
      reading(asked, (visible) =>
        tag === undefined
          ? database.rows<MemoryColumns>(NEWEST, [...parametersOf(visible), limit])
          : database.rows<MemoryColumns>(TAGGED, [...parametersOf(visible), limit, tag.toWellFormed()]),
      ),
    get: async (asked, id) => {
      const found = await reading(asked, (visible) =>
        database.rows<MemoryColumns>(ONE, [...parametersOf(visible), id.toWellFormed()]),
      );
      return found[0] ?? null;
    },
    search: ({ tag, limit, ...asked }, text) =>
      reading(asked, async (visible) => {
        const sought = await soughtPhrases(database, visible.scope, text);
        if (sought === null) return [];
        const { any, weights } = sought;
        return database.rows<MemoryColumns>(BEST, [
          ...parametersOf(visible),
          limit,
          tag?.toWellFormed() ?? null,
          any,
          weights,
        ]);
      }),
  };
}

/** Returns null when the tenant has no such memory or run. */
async function visibility(queries: Queries, asked: Omit<MemoryRecordQuery, 'limit'>): Promise<Visibility | null> {
  const { tenant, memoryRef, now, asOf } = asked;
  const [scope] = await queries.rows<[number]>(
    'SELECT key FROM cairn.memory_scopes WHERE tenant = $1::text AND ref = $2::text',
    [tenant, memoryRef.toWellFormed()],
  );
  if (scope === undefined) return null;
  const everything = { scope: scope[0], now, runId: '', start: Number.MAX_SAFE_INTEGER, before: 0, asked: 0 };
  if (asOf === undefined) return { ...everything, turn: null, seen: null };
  const { runId, beforeSeq: before, turn = null } = asOf;
  const fork = await forkView(queries, tenant, asOf);
  if (fork === null) return null;
  if (fork !== undefined) return { ...everything, turn, ...fork };
  const place = await placeOf(queries, tenant, asOf);
  return place === null ? null : { ...everything, runId, before, turn, ...place, seen: null };
}

async function placeOf(
  queries: Queries,
  tenant: string,
  { runId, beforeSeq }: AsOf,
): Promise<{ readonly start: number; readonly asked: number } | null> {
  const [found] = await queries.rows<[start: number, asked: number | null]>(
    `SELECT first.cursor, asked.cursor FROM cairn.runs
       JOIN cairn.events first ON first.run = runs.key AND first.seq = 0
       LEFT JOIN cairn.events asked ON asked.run = runs.key AND asked.seq = $3::bigint
       WHERE runs.id = $1::text AND runs.tenant = $2::text`,
    [runId, tenant, beforeSeq],
  );
  return found === undefined ? null : { start: found[0], asked: found[1] ?? Number.MAX_SAFE_INTEGER };
}

interface Sought {
  /** Any of the phrases. */
  readonly any: string;
  /** JSON: each phrase, and its weight: a rare one tells more. */
  readonly weights: string;
}

/** The phrases of a text that tell entries apart; null when no entry has any. */
async function soughtPhrases(queries: Queries, scope: number, text: string): Promise<Sought | null> {
  const phrases = phrasesIn(text).map((phrase) => queryOf(scope, phrase));
  if (phrases.length === 0) return null;
  const counted = await queries.rows<[words: string, hits: number, entries: number]>(
    `SELECT p.words, (SELECT count(*) FROM (
         SELECT 1 FROM cairn.memory_entries e WHERE e.words @@ p.words::tsquery LIMIT ${MANY + 1}) few) AS hits,
         (SELECT count(*) FROM (SELECT 1 FROM cairn.memory_entries e WHERE e.scope = $2::bigint LIMIT ${COUNTED}) all_of_it)
       FROM jsonb_array_elements_text($1::text::jsonb) AS p (words) ORDER BY hits`,
    [encodeJson(phrases), scope],
  );
  const sought: { readonly words: string; readonly weight: number }[] = [];
  let total = 0;
  for (const [words, hits, entries] of counted) {
    if (hits === 0) continue;
    total += hits;
    if (sought.length > 0 && total > MANY) break;
    sought.push({ words, weight: Math.log(1 + (Math.max(entries, hits) - hits + 0.5) / (hits + 0.5)) });
  }
  if (sought.length === 0) return null;
  return { any: sought.map(({ words }) => `(${words})`).join(' | '), weights: encodeJson(sought) };
}
