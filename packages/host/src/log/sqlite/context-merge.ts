/** Reads a context in cursor order by merging its runs, so that inserts need no index by context. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { type ContextRows, pageBytes } from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import { sharedRowsPurged } from '../ports/run-purged.ts';
import { EVENT_COLUMNS, type EventColumns } from './columns.ts';
import { lastRowReader } from './forks/last-row.ts';
import { PurgedRows } from './forks/purged-rows.ts';
import { type LastRow, SharedRows, type Stretches, stretchWith } from './forks/stretches.ts';
import { type Query, query, required } from './query.ts';
import { rowReader, type ToRow } from './values/large-values.ts';

/** Values of the column `audience`: rows for clients have 0, operator rows 1. */
const CLIENT = 0;
const OPERATOR = 1;

/** Cursors fetched per run at a time. They come from the run's index; full rows are read only once chosen. */
const CHUNK = 64;

/** A run of the context and the cursors of its next rows. */
interface Source {
  readonly runId: RunId;
  readonly stretches: Stretches;
  /** The stretch of the next row to fetch. */
  stretch: number;
  /** seq of the row after the last one in `cursors`. */
  next: number;
  cursors: readonly number[];
  place: number;
  /** The cursor at `place`; null at the end of the run. */
  cursor: number | null;
  /** The row at `place` is shared, and was purged. */
  isPurged: boolean;
}

type RunOfContext = [key: number, runId: RunId, fromSeq: number | null];

export class ContextMerge {
  readonly #runs: Query<RunOfContext>;
  readonly #localRuns: Query<RunOfContext>;
  readonly #shared: SharedRows;
  readonly #purged: PurgedRows;
  readonly #lastOf: (stretches: Stretches) => LastRow | null;
  readonly #cursorAt: Query<[cursor: number]>;
  readonly #cursors: Query<[cursor: number]>;
  readonly #row: Query<EventColumns>;
  readonly #rowOf: ToRow;

  constructor(db: DatabaseSync) {
    const runs = 'SELECT key, id, fork_seq FROM runs WHERE context = ?';
    this.#runs = query(db, `${runs} ORDER BY key`);
    this.#localRuns = query(db, `${runs} AND imported_at IS NULL ORDER BY key`);
    this.#shared = new SharedRows(db);
    this.#purged = new PurgedRows(db);
    this.#lastOf = lastRowReader(db);
    this.#cursorAt = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
    this.#cursors = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?');
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
      if (source.isPurged) throw sharedRowsPurged(source.runId);
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

  #sources(runs: readonly RunOfContext[], afterCursor: number): readonly Source[] {
    const sources: Source[] = [];
    for (const [run, runId, fromSeq] of runs) {
      const stretches = this.#shared.of(run, fromSeq === null ? null : { fromSeq });
      const last = this.#lastOf(stretches);
      if (last === null || last.cursor <= afterCursor) continue;
      const next = this.#firstAfter(stretches, afterCursor, last.seq);
      const stretch = stretchWith(stretches, next);
      const source: Source = { runId, stretches, stretch, next, cursors: [], place: 0, cursor: null, isPurged: false };
      this.#fetch(source);
      sources.push(source);
    }
    return sources;
  }

  /** Binary search for the first row after a cursor: within a run, cursors grow with seq, over the cut of a fork too. */
  #firstAfter(stretches: Stretches, cursor: number, lastSeq: number): number {
    let low = 0;
    let high = lastSeq;
    while (low < high) {
      const middle = (low + high) >> 1;
      const owner = stretches[stretchWith(stretches, middle)]?.owner ?? 0;
      const [at] = required(this.#cursorOf(owner, middle), 'run-seq-dense');
      if (at <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #cursorOf(owner: number, seq: number): [cursor: number] | undefined {
    const found = this.#cursorAt.get(owner, seq);
    if (found !== undefined) return found;
    const purged = this.#purged.cursorAt(owner, seq);
    return purged === null ? undefined : [purged];
  }

  #advance(source: Source): void {
    source.place += 1;
    if (source.place === source.cursors.length) this.#fetch(source);
    else source.cursor = source.cursors[source.place] ?? null;
  }

  #fetch(source: Source): void {
    let found = this.#nextCursors(source);
    while (found.length === 0 && source.stretch < source.stretches.length - 1) {
      source.stretch += 1;
      found = this.#nextCursors(source);
    }
    source.cursors = found.map(([cursor]) => cursor);
    source.next += found.length;
    source.place = 0;
    source.cursor = source.cursors[0] ?? null;
  }

  #nextCursors(source: Source): [cursor: number][] {
    const { stretches, stretch, next } = source;
    const { owner, through } = stretches[stretch] ?? { owner: 0, through: 0 };
    // The last stretch is the run's own, and a run that was purged is none of the context any more.
    const purged = stretch === stretches.length - 1 ? null : this.#purged.firstCursor(owner, next, through);
    source.isPurged = purged !== null;
    if (purged !== null) return [[purged]];
    return this.#cursors.all(owner, next, through, CHUNK);
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
