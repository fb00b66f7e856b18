/** Agent memories in SQLite: read by position, searched by word with FTS5. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AsOf, Memories, MemoryRecord, MemoryRecordQuery } from '../../ports/memories.ts';
import { type MemoryColumns, memoryOf } from '../../record-columns.ts';
import { type Phrase, phrasesIn } from '../../search-words.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import { forkViews } from './forked-memories.ts';
import { scopedWords, scopeReader } from './memory-tables.ts';

/**
 * A phrase found in more entries than this carries little information, and ranking it costs milliseconds. A search
 * includes it only while all its phrases together stay below this, or when there is no rarer phrase.
 */
const MANY = 5_000;

/** Entries ranked by one search: the newest that contain a phrase. */
const WEIGHED = 1_000;

const COLUMNS = 'e.id, e.content, e.tags, e.at, e.expires_at';

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

const seenByRun = (of: string): string =>
  `(${of}.cursor <= :start
    OR (${of}.run = :run AND ${of}.seq < :before AND ${of}.turn IS NOT :turn)
    OR (${of}.run <> :run AND ${of}.run IN (${ENDED_BELOW})))`;

/** A fork has the changes of several runs, each up to a position. */
const seenByFork = (of: string): string =>
  `(${of}.cursor <= :start OR EXISTS (SELECT 1 FROM json_each(:seen) s WHERE s.value ->> 0 = ${of}.run
    AND ${of}.seq < s.value ->> 1 AND (s.value ->> 2 = 0 OR ${of}.turn IS NOT :turn)))`;

const visible = (isSeen: (of: string) => string): string =>
  `${isSeen('e')} AND (e.expires_at IS NULL OR e.expires_at > :now)
  AND NOT EXISTS (SELECT 1 FROM memory_drops d WHERE d.scope = e.scope AND d.id = e.id AND ${isSeen('d')})`;

/** The statements that read what is visible to a run, or to a fork. */
function readers(db: DatabaseSync, isVisible: string) {
  return {
    newest: query<MemoryColumns>(
      db,
      `SELECT ${COLUMNS} FROM memory_entries e WHERE e.scope = :scope AND ${isVisible}
         ORDER BY e.cursor DESC LIMIT :limit`,
    ),
    tagged: query<MemoryColumns>(
      db,
      `SELECT ${COLUMNS} FROM memory_tags t JOIN memory_entries e ON e.cursor = t.entry
         WHERE t.scope = :scope AND t.tag = :tag AND ${isVisible} ORDER BY t.entry DESC LIMIT :limit`,
    ),
    one: query<MemoryColumns>(
      db,
      `SELECT ${COLUMNS} FROM memory_entries e WHERE e.scope = :scope AND e.id = :id AND ${isVisible}`,
    ),
    search: searcher(db, isVisible),
  };
}

export function sqliteMemories({ db, read }: Pick<Connection, 'db' | 'read'>): Memories {
  const parametersOf = visibility(db);
  const ofRuns = readers(db, visible(seenByRun));
  const ofForks = readers(db, visible(seenByFork));
  const of = (found: Visibility) => (found.seen === undefined ? ofRuns : ofForks);
  const reading = (asked: Omit<MemoryRecordQuery, 'limit'>, find: (visible: Visibility) => readonly MemoryRecord[]) =>
    read(() => {
      const found = parametersOf(asked);
      return found === null ? [] : find(found);
    });
  return {
    list: async ({ tag, limit, ...asked }) =>
      reading(asked, (found) =>
        tag === undefined
          ? of(found)
              .newest.all({ ...found, limit })
              .map(memoryOf)
          : of(found)
              .tagged.all({ ...found, tag: tag.toWellFormed(), limit })
              .map(memoryOf),
      ),
    get: async (asked, id) =>
      (
        await reading(asked, (found) =>
          of(found)
            .one.all({ ...found, id: id.toWellFormed() })
            .map(memoryOf),
        )
      )[0] ?? null,
    search: async ({ tag, limit, ...asked }, text) =>
      reading(asked, (found) =>
        of(found).search({ ...found, tag: tag?.toWellFormed() ?? null, limit }, phrasesIn(text)),
      ),
  };
}

/** The parameters of a condition; those of a fork have `seen`. */
type Visibility = Record<string, SQLInputValue> & { readonly scope: number; readonly seen?: string };

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
  const forkOf = forkViews(db);
  const placesOf = (tenant: string, { runId, beforeSeq }: AsOf) => places.get({ runId, tenant, before: beforeSeq });
  return ({ tenant, memoryRef, now, asOf }) => {
    const scope = scopes.get(tenant, memoryRef.toWellFormed())?.[0];
    if (scope === undefined) return null;
    if (asOf === undefined) return { ...EVERYTHING, scope, now };
    const fork = forkOf(tenant, asOf);
    if (fork === null) return null;
    if (fork !== undefined) return { scope, now, turn: asOf.turn ?? null, ...fork };
    const found = placesOf(tenant, asOf);
    if (found === undefined) return null;
    const [run, start, asked] = found;
    const { runId, beforeSeq: before, turn = null } = asOf;
    return { scope, now, runId, before, turn, run, start, asked: asked ?? Number.MAX_SAFE_INTEGER };
  };
}

type Search = (visible: Visibility, phrases: readonly Phrase[]) => readonly MemoryRecord[];

function searcher(db: DatabaseSync, isVisible: string): Search {
  const count = query<[hits: number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ${MANY + 1})`,
  );
  const best = query<MemoryColumns>(
    db,
    `SELECT ${COLUMNS} FROM (
       SELECT weighed.cursor, weighed.score FROM (
         SELECT e.cursor, bm25(memory_words) AS score FROM memory_words
           JOIN memory_entries e ON e.cursor = memory_words.rowid
           WHERE memory_words MATCH :match AND e.scope = :scope AND ${isVisible}
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
    return sought.length === 0 ? [] : best.all({ ...visible, match: sought.join(' OR ') }).map(memoryOf);
  };
}
