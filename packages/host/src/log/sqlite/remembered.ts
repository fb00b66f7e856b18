/** What agents remember, in SQLite: written with the rows that say so, and found by its words through FTS5. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Remembered, RememberedEntry, RememberedQuery, Sight } from '../ports/memories.ts';
import type { RememberedChange } from '../remembered-changes.ts';
import { type Phrase, phrasesIn, wordsIn } from '../search-words.ts';
import type { Read } from './group-commit.ts';

/**
 * A phrase that more entries hold than this says little, and counting and weighing it costs milliseconds: it takes part in
 * a search only while the phrases that are sought stay below it together, or when there is no rarer one.
 */
const MANY = 5_000;

/** Entries that are weighed in one search: of what holds a phrase, the newest. */
const WEIGHED = 1_000;

const ENTRY = 'e.id, e.content, e.tags, e.at AS createdAt, e.expires_at AS expiresAt';

/**
 * Runs below the one that looks that had ended, of those who wrote into the memory since it began. Nothing in it changes
 * from entry to entry, so SQLite computes it once, and only when there is such an entry.
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

type Parameters = Record<string, SQLInputValue>;

/** Writes inside the transaction of the rows. */
export class RememberedTables {
  readonly #scope: StatementSync;
  readonly #addScope: StatementSync;
  readonly #keep: StatementSync;
  readonly #addTag: StatementSync;
  readonly #addWords: StatementSync;
  readonly #drop: StatementSync;

  constructor(db: DatabaseSync) {
    this.#scope = scopeReader(db);
    this.#addScope = db.prepare('INSERT INTO memory_scopes VALUES (NULL, ?, ?)');
    this.#keep = db.prepare(
      'INSERT INTO memory_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, id) DO NOTHING',
    );
    this.#addTag = db.prepare('INSERT INTO memory_tags VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#addWords = db.prepare('INSERT INTO memory_words (rowid, words) VALUES (?, ?)');
    this.#drop = db.prepare('INSERT INTO memory_drops VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
  }

  /** `run` is the run's key in this database. */
  apply(tenant: string, run: number, change: RememberedChange): void {
    const { cursor, memoryRef, memoryId, seq, turn } = change;
    const scope = this.#scopeKey(tenant, memoryRef);
    if (change.kind === 'dropped') {
      this.#drop.run(scope, memoryId, cursor, run, seq, turn);
      return;
    }
    const { content, tags, at, expiresAt } = change;
    const kept = this.#keep.run(cursor, scope, memoryId, run, seq, turn, content, JSON.stringify(tags), at, expiresAt);
    if (Number(kept.changes) === 0) return;
    for (const tag of tags) this.#addTag.run(scope, tag, cursor);
    this.#addWords.run(cursor, marked(scope, wordsIn(content)));
  }

  #scopeKey(tenant: string, memoryRef: string): number {
    const known = this.#scope.get(tenant, memoryRef)?.key as number | undefined;
    return known ?? Number(this.#addScope.run(tenant, memoryRef).lastInsertRowid);
  }
}

/** Makes the tables say of a run's memories what its rows say; gives whether they had said something else. */
export function rememberedRepair(db: DatabaseSync) {
  const tables = new RememberedTables(db);
  const forget = [
    'DELETE FROM memory_words WHERE rowid IN (SELECT cursor FROM memory_entries WHERE run = ?)',
    `DELETE FROM memory_tags WHERE (scope, tag, entry) IN
       (SELECT e.scope, tag.value, e.cursor FROM memory_entries e, json_each(e.tags) tag WHERE e.run = ?)`,
    'DELETE FROM memory_drops WHERE run = ?',
    'DELETE FROM memory_entries WHERE run = ?',
  ].map((sql) => db.prepare(sql));
  const entries = db.prepare(
    `SELECT e.cursor, s.tenant, s.ref, e.id, e.seq, e.turn, e.content, e.tags, e.at, e.expires_at
       FROM memory_entries e JOIN memory_scopes s ON s.key = e.scope WHERE e.run = ? ORDER BY e.cursor`,
  );
  const drops = db.prepare(
    `SELECT d.cursor, s.tenant, s.ref, d.id, d.seq, d.turn
       FROM memory_drops d JOIN memory_scopes s ON s.key = d.scope WHERE d.run = ? ORDER BY d.cursor`,
  );
  const stored = (run: number): string => JSON.stringify([entries.all(run), drops.all(run)]);
  return (tenant: string, run: number, changes: readonly RememberedChange[]): boolean => {
    const before = stored(run);
    if (changes.length === 0 && before === '[[],[]]') return false;
    // Words and tags are written anew with the entries, whether or not they are as they should be.
    for (const statement of forget) statement.run(run);
    for (const change of changes) tables.apply(tenant, run, change);
    return stored(run) !== before;
  };
}

export function sqliteRemembered(db: DatabaseSync, read: Read): Remembered {
  const sight = sights(db);
  const newest = db.prepare(
    `SELECT ${ENTRY} FROM memory_entries e WHERE e.scope = :scope AND ${VISIBLE} ORDER BY e.cursor DESC LIMIT :limit`,
  );
  const tagged = db.prepare(
    `SELECT ${ENTRY} FROM memory_tags t JOIN memory_entries e ON e.cursor = t.entry
       WHERE t.scope = :scope AND t.tag = :tag AND ${VISIBLE} ORDER BY t.entry DESC LIMIT :limit`,
  );
  const one = db.prepare(`SELECT ${ENTRY} FROM memory_entries e WHERE e.scope = :scope AND e.id = :id AND ${VISIBLE}`);
  const search = searcher(db);
  const seeing = (query: Omit<RememberedQuery, 'limit'>, find: (seen: Seen) => readonly RememberedEntry[]) =>
    read(() => {
      const seen = sight(query);
      return seen === null ? [] : find(seen);
    });
  return {
    remembered: async ({ tag, limit, ...query }) =>
      seeing(query, (seen) =>
        tag === undefined
          ? newest.all({ ...seen, limit }).map(entryOf)
          : tagged.all({ ...seen, tag: tag.toWellFormed(), limit }).map(entryOf),
      ),
    rememberedEntry: async (query, id) =>
      (await seeing(query, (seen) => one.all({ ...seen, id: id.toWellFormed() }).map(entryOf)))[0] ?? null,
    searchRemembered: async ({ tag, limit, ...query }, text) =>
      seeing(query, (seen) => search({ ...seen, tag: tag?.toWellFormed() ?? null, limit }, phrasesIn(text))),
  };
}

type Seen = Parameters & { readonly scope: number };

/** Sees everything. */
const wholeSight = { runId: '', run: 0, start: Number.MAX_SAFE_INTEGER, before: 0, asked: 0, turn: null };

/** What a query may see, as parameters; null when the tenant has no such memory or no such run. */
function sights(db: DatabaseSync): (query: Omit<RememberedQuery, 'limit'>) => Seen | null {
  const scopes = scopeReader(db);
  const places = db.prepare(
    `SELECT runs.key AS run, first.cursor AS start, asked.cursor AS asked FROM runs
       JOIN events first ON first.run = runs.key AND first.seq = 0
       LEFT JOIN events asked ON asked.run = runs.key AND asked.seq = :before
       WHERE runs.id = :runId AND runs.tenant = :tenant`,
  );
  const placeOf = (tenant: string, { runId, beforeSeq }: Sight) =>
    places.get({ runId, tenant, before: beforeSeq }) as
      | { readonly run: number; readonly start: number; readonly asked: number | null }
      | undefined;
  return ({ tenant, memoryRef, now, sight }) => {
    const scope = scopes.get(tenant, memoryRef.toWellFormed())?.key as number | undefined;
    if (scope === undefined) return null;
    if (sight === undefined) return { ...wholeSight, scope, now };
    const found = placeOf(tenant, sight);
    if (found === undefined) return null;
    const { runId, beforeSeq: before, turn = null } = sight;
    return { scope, now, runId, before, turn, ...found, asked: found.asked ?? Number.MAX_SAFE_INTEGER };
  };
}

const scopeReader = (db: DatabaseSync): StatementSync =>
  db.prepare('SELECT key FROM memory_scopes WHERE tenant = ? AND ref = ?');

type Search = (seen: Seen, phrases: readonly Phrase[]) => readonly RememberedEntry[];

function searcher(db: DatabaseSync): Search {
  const count = db.prepare(
    `SELECT count(*) AS hits FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ${MANY + 1})`,
  );
  const best = db.prepare(
    `SELECT ${ENTRY} FROM (
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
  return (seen, phrases) => {
    const counted = phrases
      .map((phrase) => {
        const text = `"${marked(seen.scope, phrase)}"`;
        return { text, hits: count.get(text)?.hits as number };
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
    return sought.length === 0 ? [] : best.all({ ...seen, match: sought.join(' OR ') }).map(entryOf);
  };
}

/**
 * Words as the index holds them: each begins with its memory's key, so that a memory has words of its own. What others
 * keep neither slows a search nor weighs in it, and no word that somebody writes is another memory's.
 */
const marked = (scope: number, words: readonly string[]): string => words.map((word) => `${scope}x${word}`).join(' ');

const entryOf = (columns: Record<string, unknown>): RememberedEntry => ({
  ...(columns as unknown as RememberedEntry),
  tags: JSON.parse(columns.tags as string) as readonly string[],
});
