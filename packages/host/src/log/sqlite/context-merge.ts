/** Reads a context in cursor order by merging its runs, so that no insert pays for an index by context. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { ContextRows } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import { EVENT_COLUMNS, rowOf } from './columns.ts';

/** Cursors fetched from one run at a time; they lie in its index, so the rows themselves are read only once chosen. */
const CHUNK = 64;

/** A run of the context and the cursors of its next rows. */
interface Source {
  readonly run: number;
  readonly runId: RunId;
  /** seq of the row after those in `cursors`. */
  next: number;
  cursors: readonly number[];
  place: number;
}

export class ContextMerge {
  readonly #runs: StatementSync;
  readonly #last: StatementSync;
  readonly #cursorAt: StatementSync;
  readonly #cursors: StatementSync;
  readonly #row: StatementSync;

  constructor(db: DatabaseSync) {
    this.#runs = db.prepare('SELECT key, id FROM runs WHERE context = ? ORDER BY key');
    this.#last = db.prepare('SELECT seq, cursor FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1');
    this.#cursorAt = db.prepare('SELECT cursor FROM events WHERE run = ? AND seq = ?');
    this.#cursors = db.prepare('SELECT cursor FROM events WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?');
    this.#row = db.prepare(`SELECT ${EVENT_COLUMNS} FROM events WHERE cursor = ?`);
    for (const statement of [this.#runs, this.#last, this.#cursorAt, this.#cursors, this.#row]) {
      statement.setReturnArrays(true);
    }
  }

  read({ contextId, afterCursor, limit, audience, maxBytes = Number.POSITIVE_INFINITY }: ContextRows): readonly Row[] {
    const sources = this.#sources(contextId, afterCursor);
    const rows: Row[] = [];
    let bytes = 0;
    while (rows.length < limit && bytes < maxBytes) {
      const source = earliest(sources);
      if (source === null) break;
      const columns = this.#row.get(source.cursors[source.place]!) as unknown as readonly unknown[];
      this.#advance(source);
      const row = rowOf(source.runId, contextId, columns);
      if (audience !== undefined && row.audience !== audience) continue;
      rows.push(row);
      bytes += row.payload.length + (row.task?.length ?? 0);
    }
    return rows;
  }

  #sources(contextId: string, afterCursor: number): readonly Source[] {
    const sources: Source[] = [];
    for (const [run, runId] of this.#runs.all(contextId) as unknown as [number, RunId][]) {
      const [lastSeq, lastCursor] = this.#last.get(run) as unknown as [number, number];
      if (lastCursor <= afterCursor) continue;
      const source: Source = { run, runId, next: this.#firstAfter(run, afterCursor, lastSeq), cursors: [], place: 0 };
      this.#fetch(source);
      sources.push(source);
    }
    return sources;
  }

  /** In one run cursors grow with seq, so the first row after a cursor is found by halving. */
  #firstAfter(run: number, cursor: number, lastSeq: number): number {
    let low = 0;
    let high = lastSeq;
    while (low < high) {
      const middle = (low + high) >> 1;
      const [at] = this.#cursorAt.get(run, middle) as unknown as [number];
      if (at <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #advance(source: Source): void {
    source.place += 1;
    if (source.place === source.cursors.length) this.#fetch(source);
  }

  #fetch(source: Source): void {
    const found = this.#cursors.all(source.run, source.next, CHUNK) as unknown as [number][];
    source.cursors = found.map(([cursor]) => cursor);
    source.next += found.length;
    source.place = 0;
  }
}

/** The run whose next row comes first; null when all are read to their end. */
function earliest(sources: readonly Source[]): Source | null {
  let first: Source | null = null;
  for (const source of sources) {
    const cursor = source.cursors[source.place];
    if (cursor === undefined) continue;
    if (first === null || cursor < first.cursors[first.place]!) first = source;
  }
  return first;
}
