/** Reads a context in cursor order by merging its runs, so that inserts need no index by context. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { type ContextRows, pageBytes } from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import { EVENT_COLUMNS, type EventColumns } from './columns.ts';
import { type Query, query, required } from './query.ts';
import { rowReader, type ToRow } from './values/large-values.ts';

/** Values of the column `audience`: rows for clients have 0, operator rows 1. */
const CLIENT = 0;
const OPERATOR = 1;

/** Cursors fetched per run at a time. They come from the run's index; full rows are read only once chosen. */
const CHUNK = 64;

/** A run of the context and the cursors of its next rows. */
interface Source {
  readonly run: number;
  readonly runId: RunId;
  /** seq of the row after the last one in `cursors`. */
  next: number;
  cursors: readonly number[];
  place: number;
  /** The cursor at `place`; null at the end of the run. */
  cursor: number | null;
}

export class ContextMerge {
  readonly #runs: Query<[key: number, runId: RunId]>;
  readonly #localRuns: Query<[key: number, runId: RunId]>;
  readonly #last: Query<[seq: number, cursor: number]>;
  readonly #cursorAt: Query<[cursor: number]>;
  readonly #cursors: Query<[cursor: number]>;
  readonly #row: Query<EventColumns>;
  readonly #rowOf: ToRow;

  constructor(db: DatabaseSync) {
    this.#runs = query(db, 'SELECT key, id FROM runs WHERE context = ? ORDER BY key');
    this.#localRuns = query(db, 'SELECT key, id FROM runs WHERE context = ? AND imported_at IS NULL ORDER BY key');
    this.#last = query(db, 'SELECT seq, cursor FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1');
    this.#cursorAt = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
    this.#cursors = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?');
    this.#row = query(db, `SELECT ${EVENT_COLUMNS} FROM events WHERE cursor = ? AND audience <= ?`);
    this.#rowOf = rowReader(db);
  }

  read({ contextId, afterCursor, limit, audience, maxBytes: asked, isLocal = false }: ContextRows): readonly Row[] {
    const maxBytes = pageBytes(asked);
    const shown = audience === 'client' ? CLIENT : OPERATOR;
    const runs = isLocal ? this.#localRuns : this.#runs;
    const sources = this.#sources(runs.all(contextId), afterCursor);
    const rows: Row[] = [];
    let bytes = 0;
    while (rows.length < limit && bytes < maxBytes) {
      const source = earliest(sources);
      if (source === null) break;
      // A hidden row is passed over without loading its bodies.
      const columns = this.#row.get(source.cursor, shown);
      this.#advance(source);
      if (columns === undefined) continue;
      const row = this.#rowOf(source.runId, contextId, columns);
      rows.push(row);
      bytes += bodySize(row);
    }
    return rows;
  }

  #sources(runs: readonly (readonly [key: number, runId: RunId])[], afterCursor: number): readonly Source[] {
    const sources: Source[] = [];
    for (const [run, runId] of runs) {
      const [lastSeq, lastCursor] = required(this.#last.get(run), 'run-has-rows');
      if (lastCursor <= afterCursor) continue;
      const next = this.#firstAfter(run, afterCursor, lastSeq);
      const source: Source = { run, runId, next, cursors: [], place: 0, cursor: null };
      this.#fetch(source);
      sources.push(source);
    }
    return sources;
  }

  /** Binary search for the first row after a cursor: within a run, cursors grow with seq. */
  #firstAfter(run: number, cursor: number, lastSeq: number): number {
    let low = 0;
    let high = lastSeq;
    while (low < high) {
      const middle = (low + high) >> 1;
      const [at] = required(this.#cursorAt.get(run, middle), 'run-seq-dense');
      if (at <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #advance(source: Source): void {
    source.place += 1;
    if (source.place === source.cursors.length) this.#fetch(source);
    else source.cursor = source.cursors[source.place] ?? null;
  }

  #fetch(source: Source): void {
    const found = this.#cursors.all(source.run, source.next, CHUNK);
    source.cursors = found.map(([cursor]) => cursor);
    source.next += found.length;
    source.place = 0;
    source.cursor = source.cursors[0] ?? null;
  }
}

/** The run with the earliest next row; null when all runs are exhausted. */
function earliest(sources: readonly Source[]): Source | null {
  let first: Source | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const source of sources) {
    if (source.cursor === null || source.cursor >= least) continue;
    first = source;
    least = source.cursor;
  }
  return first;
}
