/** Reads a context in cursor order. A page costs the same however many runs the context has and wherever it begins. */
import type { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { type ContextRows, pageBytes } from '../../ports/event-log.ts';
import { bodySize, type Row } from '../../ports/rows.ts';
import type { EventColumns } from '../columns.ts';
import { type Query, query } from '../query.ts';
import { rowReader, type ToRow } from '../values/read-rows.ts';
import type { SharedValues } from '../values/shared-values.ts';
import { type FoundRow, SharedPrefixes } from './shared-prefixes.ts';

/** Segments fetched at a time. */
const CHUNK = 32;

type Segment = [cursor: number, run: number, seq: number, runId: RunId];

/** Which texts are read. A hidden row is found with an empty payload and no face. */
type View = 'all' | 'client' | 'tasks';

export class ContextReader {
  readonly #shared: SharedPrefixes;
  readonly #current: Query<Segment>;
  readonly #following: Query<Segment>;
  readonly #rowAt: Query<[run: number, seq: number]>;
  readonly #cursorAt: Query<[cursor: number]>;
  readonly #lastSeq: Query<[seq: number]>;
  readonly #lastCursor: Query<[cursor: number]>;
  readonly #rows: Readonly<Record<View, Query<EventColumns>>>;
  readonly #rowOf: ToRow;

  constructor(db: DatabaseSync, values: SharedValues) {
    this.#shared = new SharedPrefixes(db);
    const segments = `SELECT segments.cursor, segments.run, segments.seq, runs.id FROM context_segments AS segments
      CROSS JOIN runs ON runs.key = segments.run
      WHERE segments.context = ? AND (? = 0 OR runs.imported_at IS NULL)`;
    this.#current = query(db, `${segments} AND segments.cursor <= ? ORDER BY segments.cursor DESC LIMIT 1`);
    this.#following = query(db, `${segments} AND segments.cursor > ? ORDER BY segments.cursor LIMIT ${CHUNK}`);
    this.#rowAt = query(db, 'SELECT run, seq FROM events WHERE cursor = ?');
    this.#cursorAt = query(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
    this.#lastSeq = query(db, 'SELECT seq FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1');
    this.#lastCursor = query(db, 'SELECT cursor FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1');
    const rowsOf = (texts: string) =>
      query<EventColumns>(
        db,
        `SELECT seq, cursor, at, type, node, cause, audience, ${texts}, face FROM events
           WHERE run = ? AND seq >= ? ORDER BY seq`,
      );
    this.#rows = {
      all: rowsOf('payload, task, row_hash, hash, cuts'),
      // Hidden rows are passed over one by one: a filter would read on past the end of the segment.
      client: rowsOf("iif(audience = 0, payload, ''), iif(audience = 0, task, NULL), row_hash, hash, cuts"),
      tasks: rowsOf("'', iif(face = 0, NULL, task), '', '', iif(face = 0, NULL, cuts)"),
    };
    this.#rowOf = rowReader(values.find);
  }

  read(range: ContextRows): readonly Row[] {
    const { contextId, limit, maxBytes: asked } = range;
    const maxBytes = pageBytes(asked);
    const view = viewOf(range);
    const rows: Row[] = [];
    if (limit < 1) return rows;
    let bytes = 0;
    for (const { runId, columns } of this.#found(range)) {
      if (view === 'client' && columns[6] !== 0) continue;
      const row = this.#rowOf(runId, contextId, columns);
      rows.push(row);
      bytes += bodySize(row);
      if (rows.length >= limit || bytes >= maxBytes) break;
    }
    return rows;
  }

  /** Of the run that the context went on with last, the newest row; or the last one that a fork brought along. */
  head(contextId: ContextId): number {
    const last = this.#current.get(contextId, 0, Number.MAX_SAFE_INTEGER);
    const written = last === undefined ? 0 : (this.#lastCursor.get(last[1])?.[0] ?? 0);
    return Math.max(written, this.#shared.head(contextId));
  }

  /** The rows that were written in the context, and in between those that forks brought along. */
  *#found(range: ContextRows): Iterable<FoundRow> {
    const shared = this.#shared.of(range);
    for (const found of this.#written(range)) {
      while (shared !== null && shared.cursor < found.columns[1]) yield shared.next();
      yield found;
    }
    while (shared !== null && shared.cursor < Number.POSITIVE_INFINITY) yield shared.next();
  }

  *#written(range: ContextRows): Iterable<FoundRow> {
    const { contextId, afterCursor, isLocal = false } = range;
    const local = isLocal ? 1 : 0;
    const rows = this.#rows[viewOf(range)];
    let segment = this.#current.get(contextId, local, afterCursor);
    let from = segment === undefined ? 0 : this.#firstAfter(segment, afterCursor);
    let following = this.#following.all(contextId, local, afterCursor);
    for (;;) {
      const next = following.shift();
      const end = next?.[0] ?? Number.POSITIVE_INFINITY;
      if (segment !== undefined) {
        const [, run, , runId] = segment;
        for (const columns of rows.iterate(run, from)) {
          if (columns[1] >= end) break;
          yield { runId, columns };
        }
      }
      if (next === undefined) return;
      segment = next;
      from = next[2];
      if (following.length === 0) following = this.#following.all(contextId, local, next[0]);
    }
  }

  /** The seq of the segment's first row after a cursor. Within a run, cursors grow with seq. */
  #firstAfter([, run, first]: Segment, cursor: number): number {
    const at = this.#rowAt.get(cursor);
    if (at !== undefined && at[0] === run) return at[1] + 1;
    let low = first;
    let high = (this.#lastSeq.get(run)?.[0] ?? first - 1) + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#cursorAt.get(run, middle)?.[0] ?? 0) <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const viewOf = ({ isForTasks, audience }: ContextRows): View =>
  isForTasks === true ? 'tasks' : audience === 'client' ? 'client' : 'all';
