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
import type { Horizon } from '../horizon.ts';
import { ROW_COLUMNS, type RowColumns, rowOf, views } from '../rows/columns.ts';
import { OwnRanges } from './own-ranges.ts';

/** Rows of other nodes read at once. */
const PAGE_ROWS = 500;

const { columns, size } = views.all;

type Found = [...RowColumns, runId: RunId, contextId: ContextId];

/** Bodies beyond the page are not sent. Imported runs are told to nobody. */
const page = (where: string): string => `SELECT ${ROW_COLUMNS}, run_id, context_id FROM (
    SELECT *, sum(size) OVER (ORDER BY cursor) - size AS before FROM (
      SELECT ${columns}, ${size} AS size, r.id AS run_id, r.context AS context_id
      FROM cairn.events e JOIN cairn.runs r ON r.key = e.run AND r.imported_at IS NULL
      WHERE ${where} ORDER BY e.cursor LIMIT ${PAGE_ROWS}) found
  ) counted WHERE before < ${MAX_PAGE_BYTES} ORDER BY cursor`;

const OTHERS = page('e.cursor > $1::bigint AND e.cursor <= $2::bigint AND e.writer <> $3::integer');
const OF_CONTEXT = page(
  'e.context = (SELECT key FROM cairn.contexts WHERE id = $3::text) AND e.cursor > $1::bigint AND e.cursor < $2::bigint',
);

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
  /** Own transactions under way. Rows of others are told between them, so that none overtakes an own one. */
  #underWay = 0;
  #atRest: (() => void)[] = [];
  #reading: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(ports: TailPorts, position: number) {
    this.#ports = ports;
    this.#position = position;
  }

  /** Call it before an own transaction that writes rows, and `end` once its rows were delivered or it failed. */
  begin(): void {
    this.#underWay += 1;
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    for (const go of this.#atRest.splice(0)) go();
  }

  /** Tells of own commits, in order. What others wrote in the same context before them is told first. */
  deliver(delivered: readonly Delivered[]): Promise<void> | void {
    for (const [place, one] of delivered.entries()) {
      const filled = this.#deliverOne(one);
      if (filled !== null) return filled.then(() => this.deliver(delivered.slice(place + 1)));
    }
  }

  /** Reads what others wrote. One reads at a time; a call meanwhile reads again afterwards. */
  read(): Promise<void> {
    if (this.#reading !== null) {
      this.#isAskedAgain = true;
      return this.#reading;
    }
    this.#reading = this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
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
      this.#tellRows(found);
      if (found.length === 0) return;
    }
  }

  #tellOwn(contextId: ContextId, commits: readonly Commit[]): void {
    for (const commit of commits) {
      const [first, last] = [commit.rows[0], commit.rows.at(-1)];
      if (first === undefined || last === undefined) continue;
      this.#own.add(first.cursor, last.cursor, commit.rows.length);
      this.#note(contextId, last.cursor);
      this.#ports.followers.tell(commit);
    }
  }

  async #readAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const end = await this.#ports.horizon.end();
      while (this.#position < end) await this.#readSome(end);
    } while (this.#isAskedAgain);
  }

  async #readSome(end: number): Promise<void> {
    const { queries, writer } = this.#ports;
    const after = this.#position;
    if (this.#own.covers(after, end)) {
      await this.#rested();
      this.#moveTo(end);
      return;
    }
    const found = await queries.rows<Found>(OTHERS, [after, end, writer]);
    await this.#rested();
    this.#tellRows(found);
    // A page that is not full was the last one.
    const last = found.at(-1)?.[1] ?? end;
    this.#moveTo(found.length < PAGE_ROWS && !isCut(found) ? end : last);
  }

  /** Waits until no own transaction is under way. */
  #rested(): Promise<void> | void {
    if (this.#underWay > 0) return new Promise((resolve) => this.#atRest.push(resolve));
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
  #tellRows(found: readonly Found[]): void {
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
    for (const columnsOf of found) {
      const row = rowOf(columnsOf[12], columnsOf[13], columnsOf);
      if (row.cursor <= this.#toldOf(row.contextId)) continue;
      const last = rows.at(-1);
      if (last !== undefined && (last.runId !== row.runId || last.seq + 1 !== row.seq)) tell();
      rows.push(row);
    }
    tell();
  }
}

/** Whether the bytes ended a page. */
function isCut(found: readonly Found[]): boolean {
  let bytes = 0;
  for (const row of found) bytes += row[8].length + (row[9]?.length ?? 0);
  return bytes >= MAX_PAGE_BYTES;
}
