/**
 * Tells the followers of a node of commits, its own and those of other nodes, each once and the rows of a context in order.
 * Own commits are told at once. Of others, contexts that somebody waits for are read whole, at any time. Of the rest, a
 * look at the log up to where it is settled brings the rows of the types that somebody needs.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { PassingMap, PassingSet } from '../../../passing-map.ts';
import type { Followers } from '../../feed/followers.ts';
import type { Commit } from '../../ports/event-log.ts';
import { MAX_PAGE_BYTES } from '../../ports/event-log.ts';
import type { Row } from '../../ports/rows.ts';
import { scalars, texts } from '../commit/array-literal.ts';
import type { Delivered } from '../commit/delivered.ts';
import type { Queries } from '../database.ts';
import { type Horizon, sampleOf } from '../horizon.ts';
import { ROW_COLUMNS, type RowColumns, rowOf, views } from '../rows/columns.ts';
import { OwnRanges } from './own-ranges.ts';
import type { News } from './said.ts';

/** Rows of other nodes read at once, and rows that are looked at for it. */
const PAGE_ROWS = 500;
const LOOKED_ROWS = 5_000;

const { columns, size } = views.all;

type Found = [...RowColumns, runId: RunId, contextId: ContextId];

/**
 * As it is looked up. The first one has no row, and the runs of all that were looked at. Rows of imported runs, which are
 * told to nobody, have no run.
 */
type Looked = [
  last: number,
  running: string,
  through: number,
  runs: string,
  ...RowColumns,
  runId: RunId | null,
  contextId: ContextId | null,
];

const LOOK = `SELECT last, running, through, runs, ${ROW_COLUMNS}, run_id, context_id
  FROM cairn.look($1::bigint, $2::integer, ${PAGE_ROWS}, ${MAX_PAGE_BYTES}, ${LOOKED_ROWS}, $3::text[])`;

/** One after the other by key, however large the tables are. Bodies beyond the page are not sent. */
const OF_CONTEXTS = `SELECT ${ROW_COLUMNS}, run_id, context_id FROM (
    SELECT *, sum(size) OVER (ORDER BY place, cursor) - size AS before FROM (
      SELECT w.place, found.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (id, after, place)
        CROSS JOIN LATERAL (
          SELECT ${columns}, ${size} AS size, r.id AS run_id, r.context AS context_id
          FROM cairn.events e CROSS JOIN LATERAL (
            SELECT id, context FROM cairn.runs WHERE key = e.run AND imported_at IS NULL OFFSET 0) r
          WHERE e.context = (SELECT key FROM cairn.contexts WHERE contexts.id = w.id) AND e.cursor > w.after
            AND e.cursor < $3::bigint
          ORDER BY e.cursor LIMIT ${PAGE_ROWS}) found
        ORDER BY w.place, found.cursor LIMIT ${PAGE_ROWS}) page
  ) counted WHERE before < ${MAX_PAGE_BYTES} ORDER BY place, cursor`;

export interface TailPorts {
  readonly queries: Queries;
  readonly horizon: Horizon;
  readonly followers: Followers;
  readonly writer: number;
}

export class Tail {
  readonly #ports: TailPorts;
  readonly #own = new OwnRanges();
  /** All rows up to here were told, as far as somebody needed them. */
  #position: number;
  /** The newest row that was told of each context, where it is after the position. */
  readonly #told = new PassingMap<ContextId, number>();
  /**
   * Contexts with own rows that could not be told, because the database was away. Looks leave own rows out, so these are read
   * before anything moves on.
   */
  readonly #lost = new PassingSet<ContextId>();
  /** Own transactions under way. */
  readonly #underWay = new PassingSet<Promise<void>>();
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

  /**
   * Tells of own commits, in order. What others wrote in the same context before them is told first. If that cannot be read,
   * the commits are told with it, later: they are written, whatever becomes of the telling.
   */
  deliver(delivered: readonly Delivered[]): Promise<void> | void {
    for (const [place, one] of delivered.entries()) {
      const filled = this.#deliverOne(one);
      if (filled === null) continue;
      const told = filled.catch(() => this.lose([one.contextId]));
      return told.then(() => this.deliver(delivered.slice(place + 1)));
    }
  }

  /** Own rows may have been written in these contexts that nobody was told of. Call it before the end of the transaction. */
  lose(contexts: Iterable<ContextId>): void {
    for (const contextId of contexts) this.#lost.add(contextId);
  }

  /** Looks for what others wrote, as far as it is settled. Returns whether more is there already. One looks at a time. */
  read(): Promise<boolean> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Tells what others wrote in some contexts. Their rows become visible in order, so that nothing else matters. */
  readContexts(contexts: readonly ContextId[]): Promise<void> {
    return this.#fill(contexts, Number.MAX_SAFE_INTEGER);
  }

  /** Tells rows of one context. Returns false if others come before them that were not told. */
  tellNews({ before, rows }: News): boolean {
    const [first] = rows;
    if (first === undefined || before > this.#toldOf(first.contextId)) return false;
    this.#tellRows(rows, (commit) => this.#ports.followers.tell(commit));
    return true;
  }

  /** Null when everything was told at once. */
  #deliverOne({ contextId, before, commits }: Delivered): Promise<void> | null {
    const first = commits[0]?.rows[0]?.cursor ?? 0;
    if (before !== null && before <= this.#toldOf(contextId)) {
      this.#tellOwn(contextId, commits);
      return null;
    }
    return this.#fill([contextId], first).then(() => this.#tellOwn(contextId, commits));
  }

  /** Tells whole commits, up to a cursor. */
  async #fill(contexts: readonly ContextId[], before: number): Promise<void> {
    for (let open = contexts; open.length > 0; ) {
      const told = open.map((contextId) => this.#toldOf(contextId));
      const found = await this.#ports.queries.rows<Found>(OF_CONTEXTS, [texts(open), scalars(told), before]);
      const rows = found.map(rowFound);
      this.#tellRows(rows, (commit) => this.#ports.followers.tell(commit));
      const last = rows.at(-1);
      if (last === undefined || (rows.length < PAGE_ROWS && !isCut(found))) return;
      // The page ended there.
      open = open.slice(open.indexOf(last.contextId));
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
    const { queries, horizon, followers, writer } = this.#ports;
    for (;;) {
      await this.#readLost();
      this.#moveTo(this.#own.endAfter(this.#position));
      const types = followers.types();
      const needed = types === null ? null : texts([...types]);
      const begun = horizon.begin();
      const [first, ...answer] = await queries.rows<Looked>(LOOK, [this.#position, writer, needed]);
      if (first === undefined) return false;
      const [end, running, through, runs] = first;
      const settled = Math.min(horizon.take(sampleOf(end, running), begun), through);
      // A transaction that begins from here on draws greater cursors than those that were found.
      await Promise.all(this.#underWay);
      await this.#readLost();
      const found = answer.map(([, , , , ...columnsOf]) => columnsOf);
      const rows = found.filter(([, cursor]) => cursor <= settled);
      const waitedFor = this.#waitedFor(runs);
      const others = rows.filter((row): row is Found => row[13] !== null && !waitedFor.has(row[13]));
      // Without the rest of their commits, they are for those that need no more.
      const tell = (commit: Commit) => (types === null ? followers.tell(commit) : followers.tellSome(commit));
      this.#tellRows(others.map(rowFound), tell);
      // Their rows come whole, and need not be settled.
      await this.readContexts([...waitedFor]);
      const last = rows.at(-1);
      const isFull = last !== undefined && rows.length === found.length && (rows.length >= PAGE_ROWS || isCut(rows));
      this.#moveTo(isFull ? last[1] : settled);
      if (!isFull && (settled < through || through === end)) return rows.length < found.length;
    }
  }

  async #readLost(): Promise<void> {
    const lost = [...this.#lost];
    if (lost.length === 0) return;
    await this.readContexts(lost);
    for (const contextId of lost) this.#lost.delete(contextId);
  }

  #waitedFor(runs: string): ReadonlySet<ContextId> {
    const looked: readonly (readonly [RunId, ContextId])[] = JSON.parse(runs);
    const { followers } = this.#ports;
    const waitedFor = looked.filter(([runId, contextId]) => followers.isWanted({ runId, contextId }));
    return new Set(waitedFor.map(([, contextId]) => contextId));
  }

  #moveTo(position: number): void {
    this.#position = Math.max(position, this.#position);
    for (const [contextId, cursor] of [...this.#told]) if (cursor <= this.#position) this.#told.delete(contextId);
    this.#own.forget(this.#position);
  }

  #toldOf(contextId: ContextId): number {
    return Math.max(this.#told.get(contextId) ?? 0, this.#position);
  }

  #note(contextId: ContextId, cursor: number): void {
    if (cursor > this.#toldOf(contextId)) this.#told.set(contextId, cursor);
  }

  /** Rows of one run that follow each other are one commit. */
  #tellRows(found: readonly Row[], tell: (commit: Commit) => void): void {
    let rows: Row[] = [];
    const tellThem = (): void => {
      const last = rows.at(-1);
      if (last === undefined) return;
      const { runId, contextId } = last;
      const commit = { runId, contextId, rows };
      rows = [];
      this.#note(contextId, last.cursor);
      tell(commit);
    };
    for (const row of found) {
      if (row.cursor <= this.#toldOf(row.contextId)) continue;
      const last = rows.at(-1);
      if (last !== undefined && (last.runId !== row.runId || last.seq + 1 !== row.seq)) tellThem();
      rows.push(row);
    }
    tellThem();
  }
}

const rowFound = (columnsOf: Found): Row => rowOf(columnsOf[12], columnsOf[13], columnsOf);

/** Whether the bytes ended a page. */
function isCut(found: readonly (readonly [...RowColumns, ...unknown[]])[]): boolean {
  let bytes = 0;
  for (const row of found) bytes += row[8].length + (row[9]?.length ?? 0);
  return bytes >= MAX_PAGE_BYTES;
}
