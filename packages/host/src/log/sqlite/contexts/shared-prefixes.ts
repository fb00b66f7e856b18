/** The rows that the forks of a context share with runs of other contexts, in cursor order. Few contexts have any. */
import type { DatabaseSync } from 'node:sqlite';
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import type { ContextRows } from '../../ports/event-log.ts';
import { sharedRowsPurged } from '../../ports/run-purged.ts';
import { EVENT_COLUMNS, type EventColumns } from '../columns.ts';
import { lastRowReader } from '../forks/last-row.ts';
import { PurgedRows } from '../forks/purged-rows.ts';
import { type LastRow, SharedRows, type Stretches, stretchWith } from '../forks/stretches.ts';
import { type Query, query, required } from '../query.ts';

/** Cursors fetched per run at a time. They come from the run's index; full rows are read only once chosen. */
const CHUNK = 64;

/** A fork of the context and the cursors of its next shared rows. */
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
  /** The row at `place` was purged. */
  isPurged: boolean;
}

type ForkOfContext = [key: number, runId: RunId, fromSeq: number];

/** A row of the context before its texts are put together. */
export interface FoundRow {
  readonly runId: RunId;
  readonly columns: EventColumns;
}

/** Shared rows that follow one another. */
interface SharedRange {
  /** The cursor of the next row; infinite after the last. */
  readonly cursor: number;
  /** Throws `run_purged` for a row that was purged. */
  next(): FoundRow;
}

export class SharedPrefixes {
  readonly #forks: Query<ForkOfContext>;
  readonly #shared: SharedRows;
  readonly #purged: PurgedRows;
  readonly #lastOf: (stretches: Stretches) => LastRow | null;
  readonly #cursorAt: Query<[cursor: number]>;
  readonly #cursors: Query<[cursor: number]>;
  readonly #row: Query<EventColumns>;

  constructor(db: DatabaseSync) {
    // An imported fork has all rows itself.
    this.#forks = query(
      db,
      `SELECT key, id, fork_seq FROM runs INDEXED BY runs_forked
         WHERE context = ? AND fork_seq IS NOT NULL AND imported_at IS NULL ORDER BY key`,
    );
    this.#shared = new SharedRows(db);
    this.#purged = new PurgedRows(db);
    this.#lastOf = lastRowReader(db);
    this.#cursorAt = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
    this.#cursors = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?');
    this.#row = query(db, `SELECT ${EVENT_COLUMNS} FROM events WHERE cursor = ?`);
  }

  /** Null when no fork of the context shares a row after the cursor. */
  of({ contextId, afterCursor }: ContextRows): SharedRange | null {
    const sources = this.#sources(this.#forks.all(contextId), afterCursor);
    if (sources.length === 0) return null;
    return {
      get cursor() {
        return earliest(sources)?.cursor ?? Number.POSITIVE_INFINITY;
      },
      next: () => {
        const source = earliest(sources);
        invariant(source !== null, 'shared-range-goes-on');
        if (source.isPurged) throw sharedRowsPurged(source.runId);
        const columns = required(this.#row.get(source.cursor), 'shared-row-exists');
        this.#advance(source);
        return { runId: source.runId, columns };
      },
    };
  }

  /** The cursor of the last shared row; 0 when the context has no fork. */
  head(contextId: ContextId): number {
    const ends = this.#forks
      .all(contextId)
      .map(([run, , fromSeq]) => this.#lastOf(this.#shared.of(run, { fromSeq }).slice(0, -1))?.cursor ?? 0);
    return Math.max(0, ...ends);
  }

  #sources(forks: readonly ForkOfContext[], afterCursor: number): readonly Source[] {
    const sources: Source[] = [];
    for (const [run, runId, fromSeq] of forks) {
      const stretches = this.#shared.of(run, { fromSeq }).slice(0, -1);
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
    const purged = this.#purged.firstCursor(owner, next, through);
    source.isPurged = purged !== null;
    if (purged !== null) return [[purged]];
    return this.#cursors.all(owner, next, through, CHUNK);
  }
}

/** The fork with the earliest next row; null when all are exhausted. */
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
