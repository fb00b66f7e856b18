/** The index of contexts: which run's rows a context goes on with, from a cursor on. Follows from the rows. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LruMap } from '../../../lru-map.ts';
import { type Query, query } from '../query.ts';

/** Contexts whose last run is remembered; for another one the table is asked. */
const REMEMBERED = 10_000;

/** Where rows begin. */
interface Beginning {
  readonly cursor: number;
  readonly seq: number;
}

export class ContextSegments {
  /** The run of each context's last segment. Authoritative like the cached heads, and cleared with them. */
  readonly #last = new LruMap<string, number>(REMEMBERED);
  readonly #newest: Query<[run: number]>;
  readonly #add: StatementSync;

  constructor(db: DatabaseSync) {
    this.#newest = query(db, 'SELECT run FROM context_segments WHERE context = ? ORDER BY cursor DESC LIMIT 1');
    this.#add = db.prepare('INSERT INTO context_segments (context, cursor, run, seq) VALUES (?, ?, ?, ?)');
  }

  /** Notes rows that are appended. Writes only if the context went on with another run before. */
  note(context: string, run: number, first: Beginning): void {
    const last = this.#last.peek(context);
    if (last === run) return;
    const known = last ?? (first.seq === 0 ? null : this.#newest.get(context)?.[0]);
    if (known !== run) this.#add.run(context, first.cursor, run, first.seq);
    this.#last.set(context, run);
  }

  /** After a transaction that was rolled back. */
  clear(): void {
    this.#last.clear();
  }
}
