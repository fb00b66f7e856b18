/** Agent memories in SQLite: read by position, searched by word with FTS5. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AsOf, Memories, MemoryRecord, MemoryRecordQuery } from '../ports/memories.ts';
import { type Phrase, phrasesIn } from '../search-words.ts';
import { parseTexts } from './columns.ts';
import type { Connection } from './connection.ts';
import { scopedWords, scopeReader } from './memory-tables.ts';
import { query } from './query.ts';

/**
 * A phrase found in more entries than this carries little information, and ranking it costs milliseconds. A search
 * includes it only while all its phrases together stay below this, or when there is no rarer phrase.
 */
const MANY = 5_000;

/** Entries ranked by one search: the newest that contain a phrase. */
const WEIGHED = 1_000;

const COLUMNS = 'e.id, e.content, e.tags, e.at, e.expires_at';

type Columns = [id: string, content: string, tags: string, createdAt: number, expiresAt: number | null];

/**
 * The ended descendants of the reading run that wrote to the memory since it started. The subquery does not depend on
 * the entry, so SQLite computes it once, and only when such an entry exists.
 */
const ENDED_BELOW = `WITH RECURSIVE above (run, parent) AS (
    SELECT w.key, w.parent FROM runs w
      WHERE w.key IN (SELECT run FROM memory_entries WHERE scope = :scope AND cursor > :start
                      UNION SELECT run FROM memory_drops WHERE scope = :scope AND cursor > :start)
        AND w.ended_at IS NOT NULL
        AND (SELECT l.cursor FROM events l WHERE l.run = w.key ORDER BY l.seq DESC LIMIT 1) < :asked
    UNION ALL SELECT above.run, u.parent FROM above JOIN runs u ON u.id = above.parent)
  SELECT run FROM above WHERE parent = :runId`;

const isSeen = (of: string): string =>
  `(${of}.cursor <= :start
    OR (${of}.run = :run AND ${of}.seq < :before AND ${of}.turn IS NOT :turn)
    OR (${of}.run <> :run AND ${of}.run IN (${ENDED_BELOW})))`;

const VISIBLE = `${isSeen('e')} AND (e.expires_at IS NULL OR e.expires_at > :now)
  AND NOT EXISTS (SELECT 1 FROM memory_drops d WHERE d.scope = e.scope AND d.id = e.id AND ${isSeen('d')})`;

export function sqliteMemories({ db, read }: Pick<Connection, 'db' | 'read'>): Memories {
  const parametersOf = visibility(db);
  const newest = query<Columns>(
    db,
    `SELECT ${COLUMNS} FROM memory_entries e WHERE e.scope = :scope AND ${VISIBLE} ORDER BY e.cursor DESC LIMIT :limit`,
  );
  const tagged = query<Columns>(
    db,
    `SELECT ${COLUMNS} FROM memory_tags t JOIN memory_entries e ON e.cursor = t.entry
       WHERE t.scope = :scope AND t.tag = :tag AND ${VISIBLE} ORDER BY t.entry DESC LIMIT :limit`,
  );
  const one = query<Columns>(
    db,
    `SELECT ${COLUMNS} FROM memory_entries e WHERE e.scope = :scope AND e.id = :id AND ${VISIBLE}`,
  );
  const search = searcher(db);
  const reading = (of: Omit<MemoryRecordQuery, 'limit'>, find: (visible: Visibility) => readonly MemoryRecord[]) =>
    read(() => {
      const visible = parametersOf(of);
      return visible === null ? [] : find(visible);
    });
  return {
    list: async ({ tag, limit, ...of }) =>
      reading(of, (visible) =>
        tag === undefined
          ? newest.all({ ...visible, limit }).map(recordOf)
          : tagged.all({ ...visible, tag: tag.toWellFormed(), limit }).map(recordOf),
      ),
    get: async (of, id) =>
      (await reading(of, (visible) => one.all({ ...visible, id: id.toWellFormed() }).map(recordOf)))[0] ?? null,
    search: async ({ tag, limit, ...of }, text) =>
      reading(of, (visible) => search({ ...visible, tag: tag?.toWellFormed() ?? null, limit }, phrasesIn(text))),
  };
}

/** The parameters of `VISIBLE`. */
type Visibility = Record<string, SQLInputValue> & { readonly scope: number };

const EVERYTHING = { runId: '', run: 0, start: Number.MAX_SAFE_INTEGER, before: 0, asked: 0, turn: null };

/** Returns null when the tenant has no such memory or run. */
function visibility(db: DatabaseSync): (of: Omit<MemoryRecordQuery, 'limit'>) => Visibility | null {
  const scopes = scopeReader(db);
  const places = query<[run: number, start: number, asked: number | null]>(
    db,
    `SELECT runs.key, first.cursor, asked.cursor FROM runs
       JOIN events first ON first.run = runs.key AND first.seq = 0
       LEFT JOIN events asked ON asked.run = runs.key AND asked.seq = :before
       WHERE runs.id = :runId AND runs.tenant = :tenant`,
  );
  const placesOf = (tenant: string, { runId, beforeSeq }: AsOf) => places.get({ runId, tenant, before: beforeSeq });
  return ({ tenant, memoryRef, now, asOf }) => {
    const scope = scopes.get(tenant, memoryRef.toWellFormed())?.[0];
    if (scope === undefined) return null;
    if (asOf === undefined) return { ...EVERYTHING, scope, now };
    const found = placesOf(tenant, asOf);
    if (found === undefined) return null;
    const [run, start, asked] = found;
    const { runId, beforeSeq: before, turn = null } = asOf;
    return { scope, now, runId, before, turn, run, start, asked: asked ?? Number.MAX_SAFE_INTEGER };
  };
}

type Search = (visible: Visibility, phrases: readonly Phrase[]) => readonly MemoryRecord[];

function searcher(db: DatabaseSync): Search {
  const count = query<[hits: number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ${MANY + 1})`,
  );
  const best = query<Columns>(
    db,
    `SELECT ${COLUMNS} FROM (
       SELECT weighed.cursor, weighed.score FROM (
         SELECT e.cursor, bm25(memory_words) AS score FROM memory_words
           JOIN memory_entries e ON e.cursor = memory_words.rowid
           WHERE memory_words MATCH :match AND e.scope = :scope AND ${VISIBLE}
             AND (:tag IS NULL OR EXISTS
               (SELECT 1 FROM memory_tags t WHERE t.scope = :scope AND t.tag = :tag AND t.entry = e.cursor))
           ORDER BY memory_words.rowid DESC LIMIT ${WEIGHED}) weighed
         ORDER BY weighed.score, weighed.cursor DESC LIMIT :limit) best
       JOIN memory_entries e ON e.cursor = best.cursor ORDER BY best.score, e.cursor DESC`,
  );
  return (visible, phrases) => {
    const counted = phrases
      .map((phrase) => {
        const text = `"${scopedWords(visible.scope, phrase)}"`;
        return { text, hits: count.get(text)?.[0] ?? 0 };
      })
      .filter(({ hits }) => hits > 0)
      .sort((a, b) => a.hits - b.hits);
    const sought: string[] = [];
    let total = 0;
    for (const { text, hits } of counted) {
      total += hits;
      if (sought.length > 0 && total > MANY) break;
      sought.push(text);
    }
    return sought.length === 0 ? [] : best.all({ ...visible, match: sought.join(' OR ') }).map(recordOf);
  };
}

const recordOf = ([id, content, tags, createdAt, expiresAt]: Columns): MemoryRecord => ({
  id,
  content,
  tags: parseTexts(tags),
  createdAt,
  expiresAt,
});
