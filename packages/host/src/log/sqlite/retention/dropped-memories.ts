/** Removes memories that a purged run kept and that were dropped since. Others belong to their agent and stay. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parseTexts } from '../columns.ts';
import { type Query, query } from '../query.ts';

export class DroppedMemories {
  readonly #dropped: Query<[cursor: number, scope: number, id: string, tags: string]>;
  readonly #words: StatementSync;
  readonly #tag: StatementSync;
  readonly #drop: StatementSync;
  readonly #entry: StatementSync;

  constructor(db: DatabaseSync) {
    this.#dropped = query(
      db,
      `SELECT e.cursor, e.scope, e.id, e.tags FROM memory_entries e INDEXED BY memory_entries_by_run
         CROSS JOIN memory_drops d ON d.scope = e.scope AND d.id = e.id WHERE e.run = ? LIMIT ?`,
    );
    this.#words = db.prepare('DELETE FROM memory_words WHERE rowid = ?');
    this.#tag = db.prepare('DELETE FROM memory_tags WHERE scope = ? AND tag = ? AND entry = ?');
    this.#drop = db.prepare('DELETE FROM memory_drops WHERE scope = ? AND id = ?');
    this.#entry = db.prepare('DELETE FROM memory_entries WHERE cursor = ?');
  }

  /** Returns the number of memories that it removed. */
  remove(run: number, limit: number): number {
    const found = this.#dropped.all(run, limit);
    for (const [cursor, scope, id, tags] of found) {
      this.#words.run(cursor);
      for (const tag of parseTexts(tags)) this.#tag.run(scope, tag, cursor);
      this.#drop.run(scope, id);
      this.#entry.run(cursor);
    }
    return found.length;
  }
}
