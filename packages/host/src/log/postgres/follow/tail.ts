/**
 * Tells the followers of a node of every commit, its own and those of other nodes, each once and the rows of a context in
 * order. Own commits are told at once. Others are read from the log, up to where it is settled.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Followers } from '../../feed/followers.ts';
import type { Commit } from '../../ports/event-log.ts';
import { MAX_PAGE_BYTES } from '../../ports/event-log.ts';
import type { Row } from '../../ports/rows.ts';
import type { Delivered } from '../commit/group-commit.ts';
import type { Queries } from '../database.ts';
import { type Horizon, sampleOf } from '../horizon.ts';
import { ROW_COLUMNS, type RowColumns, rowOf, views } from '../rows/columns.ts';
import { OwnRanges } from './own-ranges.ts';
import type { News } from './said.ts';

/** Rows of other nodes read at once. */
const PAGE_ROWS = 500;

const { columns, size } = views.all;

type Found = [...RowColumns, runId: RunId, contextId: ContextId];

/** As it is looked up: rows of imported runs, which are told to nobody, have no run. */
type Looked = [last: number, running: string, ...RowColumns, runId: RunId | null, contextId: ContextId | null];

const LOOK = `SELECT last, running, ${ROW_COLUMNS}, run_id, context_id
  FROM cairn.look($1::bigint, $2::integer, ${PAGE_ROWS}, ${MAX_PAGE_BYTES})`;

/** Bodies beyond the page are not sent. Imported runs are told to nobody. */
const OF_CONTEXT = `SELECT ${ROW_COLUMNS}, run_id, context_id FROM (
    SELECT *, sum(size) OVER (ORDER BY cursor) - size AS before FROM (
      SELECT ${columns}, ${size} AS size, r.id AS run_id, r.context AS context_id
      FROM cairn.events e JOIN cairn.runs r ON r.key = e.run AND r.imported_at IS NULL
      WHERE e.context = (SELECT key FROM cairn.contexts WHERE id = $3::text) AND e.cursor > $1::bigint AND e.cursor < $2::bigint
      ORDER BY e.cursor LIMIT ${PAGE_ROWS}) found
  ) counted WHERE before < ${MAX_PAGE_BYTES} ORDER BY cursor`;

export interface TailPorts {
  readonly queries: Queries;
  readonly horizon: Horizon;
  readonly followers: Followers;
  readonly writer: number;
}

export class Tail {
  readonly #ports: TailPorts;
  readonly #own = new OwnRanges();
  /** All rows up to here were told. */
  #position: number;
  /** The newest row that was told of each context, where it is after the position. */
  readonly #told = new Map<ContextId, number>();
  /** Own transactions under way. */
  readonly #underWay = new Set<Promise<void>>();
  #reading: Promise<boolean> | null = null;

  constructor(ports: TailPorts, position: number) {
    this.#ports = ports;
    this.#position = position;
  }

  /** Call it before an own transaction that writes rows, and the result once its rows were delivered or it failed. */
  begin(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#underWay.add(promise);
    return () => {
      this.#underWay.delete(promise);
      resolve();
    };
  }

  /** Tells of own commits, in order. What others wrote in the same context before them is told first. */
  deliver(delivered: readonly Delivered[]): Promise<void> | void {
    for (const [place, one] of delivered.entries()) {
      const filled = this.#deliverOne(one);
      if (filled !== null) return filled.then(() => this.deliver(delivered.slice(place + 1)));
    }
  }

  /** Reads what others wrote, as far as it is settled. Returns whether more is there already. One reads at a time. */
  read(): Promise<boolean> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Tells what others wrote in some contexts. Their rows become visible in order, so that nothing else matters. */
  async readContexts(contexts: readonly ContextId[]): Promise<void> {
    // One after the other: commits need the connections.
    for (const contextId of contexts) await this.#fill(contextId, Number.MAX_SAFE_INTEGER);
  }

  /** Tells rows of one context. Returns false if others come before them that were not told. */
  tellNews({ before, rows }: News): boolean {
    const [first] = rows;
    if (first === undefined || before > this.#toldOf(first.contextId)) return false;
    this.#tellRows(rows);
    return true;
  }

  /** Null when everything was told at once. */
  #deliverOne({ contextId, before, commits }: Delivered): Promise<void> | null {
    const first = commits[0]?.rows[0]?.cursor ?? 0;
    if (before !== null && before <= this.#toldOf(contextId)) {
      this.#tellOwn(contextId, commits);
      return null;
    }
    return this.#fill(contextId, first).then(() => this.#tellOwn(contextId, commits));
  }

  async #fill(contextId: ContextId, through: number): Promise<void> {
    for (;;) {
      const found = await this.#ports.queries.rows<Found>(OF_CONTEXT, [this.#toldOf(contextId), through, contextId]);
      this.#tellRows(found.map(rowFound));
      if (found.length < PAGE_ROWS && !isCut(found)) return;
    }
  }

  #tellOwn(contextId: ContextId, commits: readonly Commit[]): void {
    for (const commit of commits) {
      const last = commit.rows.at(-1);
      // What was told already filled the gap before another own commit, whose answer was faster.
      if (last === undefined || last.cursor <= this.#toldOf(contextId)) continue;
      this.#own.add(commit.rows.map(({ cursor }) => cursor));
      this.#note(contextId, last.cursor);
      this.#ports.followers.tell(commit);
    }
  }

  async #readAll(): Promise<boolean> {
    const { queries, horizon, writer } = this.#ports;
    for (;;) {
      this.#moveTo(this.#own.endAfter(this.#position));
      const begun = horizon.begin();
      const [first, ...answer] = await queries.rows<Looked>(LOOK, [this.#position, writer]);
      if (first === undefined) return false;
      const sample = sampleOf(first[0], first[1]);
      const settled = Math.min(horizon.take(sample, begun), sample.last);
      // A transaction that begins from here on draws greater cursors than those that were found.
      await Promise.all(this.#underWay);
      const found = answer.map(([, , ...columnsOf]) => columnsOf);
      const rows = found.filter(([, cursor]) => cursor <= settled);
      this.#tellRows(rows.filter((row): row is Found => row[12] !== null).map(rowFound));
      const last = rows.at(-1);
      const isFull = last !== undefined && rows.length === found.length && (rows.length >= PAGE_ROWS || isCut(rows));
      this.#moveTo(isFull ? last[1] : settled);
      if (!isFull) return rows.length < found.length;
    }
  }

  #moveTo(position: number): void {
    this.#position = Math.max(position, this.#position);
    for (const [contextId, cursor] of this.#told) if (cursor <= this.#position) this.#told.delete(contextId);
    this.#own.forget(this.#position);
  }

  #toldOf(contextId: ContextId): number {
    return Math.max(this.#told.get(contextId) ?? 0, this.#position);
  }

  #note(contextId: ContextId, cursor: number): void {
    if (cursor > this.#toldOf(contextId)) this.#told.set(contextId, cursor);
  }

  /** Rows of one run that follow each other are one commit. */
  #tellRows(found: readonly Row[]): void {
    let rows: Row[] = [];
    const tell = (): void => {
      const last = rows.at(-1);
      if (last === undefined) return;
      const { runId, contextId } = last;
      const commit = { runId, contextId, rows };
      rows = [];
      this.#note(contextId, last.cursor);
      this.#ports.followers.tell(commit);
    };
    for (const row of found) {
      if (row.cursor <= this.#toldOf(row.contextId)) continue;
      const last = rows.at(-1);
      if (last !== undefined && (last.runId !== row.runId || last.seq + 1 !== row.seq)) tell();
      rows.push(row);
    }
    tell();
  }
}

const rowFound = (columnsOf: Found): Row => rowOf(columnsOf[12], columnsOf[13], columnsOf);

/** Whether the bytes ended a page. */
function isCut(found: readonly (readonly [...RowColumns, ...unknown[]])[]): boolean {
  let bytes = 0;
  for (const row of found) bytes += row[8].length + (row[9]?.length ?? 0);
  return bytes >= MAX_PAGE_BYTES;
}
