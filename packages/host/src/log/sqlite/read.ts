/** Reads of the log: a run by its index, a context by merging its runs, the run list and the inbox. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import type { Changes, ContextRows, EventLog, RunRows } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import type { InterruptRecord, PendingPage, PendingQuery, RunPage, RunQuery } from '../ports/run-index.ts';
import { ChosenReader } from './chosen-rows.ts';
import { EVENT_COLUMNS, INTERRUPT_COLUMNS, interruptOf, rowOf, SHOWN_COLUMNS } from './columns.ts';
import { ContextMerge } from './context-merge.ts';
import { RunList } from './run-list.ts';
import type { Slots } from './slots.ts';

type Columns = readonly unknown[];

export class Reader {
  readonly #slots: Slots;
  readonly #run: StatementSync;
  readonly #clientRun: StatementSync;
  readonly #shownRun: StatementSync;
  readonly #shownClientRun: StatementSync;
  readonly #inbox: StatementSync;
  readonly #merge: ContextMerge;
  readonly #changes: StatementSync;
  readonly #end: StatementSync;
  readonly #tenant: StatementSync;
  readonly #chosen: ChosenReader;
  readonly #list: RunList;

  constructor(db: DatabaseSync, slots: Slots) {
    this.#slots = slots;
    const select = `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND seq > ?`;
    const shown = `SELECT ${SHOWN_COLUMNS} FROM events WHERE run = ? AND seq > ?`;
    const [all, client] = ['ORDER BY seq LIMIT ?', 'AND audience = 0 ORDER BY seq LIMIT ?'];
    this.#run = arrays(db.prepare(`${select} ${all}`));
    this.#clientRun = arrays(db.prepare(`${select} ${client}`));
    this.#shownRun = arrays(db.prepare(`${shown} ${all}`));
    this.#shownClientRun = arrays(db.prepare(`${shown} ${client}`));
    this.#inbox = arrays(db.prepare(`SELECT ${INTERRUPT_COLUMNS} FROM interrupts WHERE run = ? ORDER BY place`));
    this.#list = new RunList(db);
    this.#merge = new ContextMerge(db);
    this.#chosen = new ChosenReader(db);
    this.#changes = arrays(
      db.prepare(
        `SELECT run_id, context, imported_at, ${EVENT_COLUMNS} FROM events
         JOIN (SELECT key, id AS run_id, context, imported_at FROM runs) AS whose ON whose.key = events.run
         WHERE cursor > ? ORDER BY cursor LIMIT ?`,
      ),
    );
    this.#tenant = db.prepare('SELECT tenant FROM runs WHERE context = ? LIMIT 1');
    this.#end = db.prepare('SELECT coalesce(max(cursor), 0) AS cursor FROM events');
  }

  rows(range: RunRows | ContextRows): readonly Row[] {
    if ('contextId' in range) return this.#merge.read(range);
    const entry = this.#slots.get(range.runId);
    if (entry === null) return [];
    const { contextId } = entry.slot.record;
    const isClient = range.audience === 'client';
    const whole = isClient ? this.#clientRun : this.#run;
    const statement = range.isForFrames === true ? (isClient ? this.#shownClientRun : this.#shownRun) : whole;
    return bounded(range, (after, limit) =>
      (statement.all(entry.key, after, limit) as unknown as Columns[]).map((columns) =>
        rowOf(range.runId, contextId, columns),
      ),
    );
  }

  changes(range: Parameters<EventLog['changes']>[0]): Changes {
    if (range.only !== undefined) return this.#chosen.rows(range, range.only);
    const { after, limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const rows: Row[] = [];
    let position = Number(after);
    let bytes = 0;
    for (let seen = 0; seen < limit && bytes < maxBytes; ) {
      const wanted = Math.min(FETCH, limit - seen);
      const found = this.#changes.all(position, wanted) as unknown as Columns[];
      for (const [runId, contextId, importedAt, ...columns] of found) {
        const row = rowOf(runId as RunId, contextId as ContextId, columns);
        position = row.cursor;
        bytes += row.payload.length + (row.task?.length ?? 0);
        if (importedAt === null) rows.push(row);
        if (bytes >= maxBytes) break;
      }
      seen += found.length;
      if (found.length < wanted) break;
    }
    return { rows, position: String(position) };
  }

  /** The last row's place, whether or not it was written by this process. */
  end(): string {
    return String(this.#end.get()?.cursor ?? 0);
  }

  contextTenant(contextId: ContextId): string | null {
    return (this.#tenant.get(contextId)?.tenant as string | undefined) ?? null;
  }

  pending(query: PendingQuery): PendingPage {
    return this.#chosen.pending(query);
  }

  interrupts(runId: RunId): readonly InterruptRecord[] {
    const entry = this.#slots.get(runId);
    if (entry === null) return [];
    return (this.#inbox.all(entry.key) as unknown as Columns[]).map((columns) => interruptOf(runId, columns));
  }

  list(query: RunQuery): RunPage {
    return this.#list.page(query);
  }
}

export function arrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}

/** Rows fetched at once: many for one call into SQLite, few enough that large ones do no harm. */
const FETCH = 100;

/** Takes rows until their bodies pass the bound; the one that passes it is the last. */
function bounded({ after, limit, maxBytes = Number.POSITIVE_INFINITY }: RunRows, fetch: Fetch): readonly Row[] {
  const rows: Row[] = [];
  let bytes = 0;
  for (;;) {
    const wanted = Math.min(FETCH, limit - rows.length);
    const found = fetch(rows.at(-1)?.seq ?? after, wanted);
    for (const row of found) {
      rows.push(row);
      bytes += row.payload.length + (row.task?.length ?? 0);
      if (bytes >= maxBytes) return rows;
    }
    if (found.length < wanted || rows.length >= limit) return rows;
  }
}

type Fetch = (after: number, limit: number) => readonly Row[];
