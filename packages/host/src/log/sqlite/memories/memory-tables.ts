/** Writes memories in the same transaction as the rows that keep or drop them, and repairs them from those rows. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { MemoryChange } from '../../memory-changes.ts';
import { wordsIn } from '../../search-words.ts';
import { type Query, query } from '../query.ts';

export class MemoryTables {
  readonly #scope: Query<[key: number]>;
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
  apply(tenant: string, run: number, change: MemoryChange): void {
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
    this.#addWords.run(cursor, scopedWords(scope, wordsIn(content)));
  }

  #scopeKey(tenant: string, memoryRef: string): number {
    return this.#scope.get(tenant, memoryRef)?.[0] ?? Number(this.#addScope.run(tenant, memoryRef).lastInsertRowid);
  }
}

/** The key of a memory by tenant and reference. */
export const scopeReader = (db: DatabaseSync): Query<[key: number]> =>
  query(db, 'SELECT key FROM memory_scopes WHERE tenant = ? AND ref = ?');

/**
 * Words as stored in the full-text index. Each starts with its memory's key, so every memory has its own vocabulary.
 * Entries of other memories neither slow a search nor affect its ranking, and no text can match another memory.
 */
export const scopedWords = (scope: number, words: readonly string[]): string =>
  words.map((word) => `${scope}x${word}`).join(' ');

/** Makes the tables match the rows of a run. Returns whether they differed. */
export function memoryRepair(db: DatabaseSync) {
  const tables = new MemoryTables(db);
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
  return (tenant: string, run: number, changes: readonly MemoryChange[]): boolean => {
    const before = stored(run);
    if (changes.length === 0 && before === '[[],[]]') return false;
    // Words and tags are always rewritten with the entries.
    for (const statement of forget) statement.run(run);
    for (const change of changes) tables.apply(tenant, run, change);
    return stored(run) !== before;
  };
}
