/** The SQLite event log. Appends go through the group commit; a run is read by its index, a context by merging runs. */
import type { DatabaseSync } from 'node:sqlite';
import type { Followers } from '../feed/followers.ts';
import type { ContextRows, EventLog, RunRows } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import type { Appender } from './append.ts';
import { ChangesReader } from './changes.ts';
import { EVENT_COLUMNS, type EventColumns, FRAME_COLUMNS, rowOf } from './columns.ts';
import type { Connection } from './connection.ts';
import { ContextMerge } from './context-merge.ts';
import type { HeadCache } from './head-cache.ts';
import { type Query, query } from './query.ts';

interface EventLogPorts extends Connection {
  readonly heads: HeadCache;
  readonly appender: Appender;
  readonly followers: Followers;
}

export function sqliteEventLog({ db, writer, read, heads, appender, followers }: EventLogPorts): EventLog {
  const rows = new RowReader(db, heads);
  const changes = new ChangesReader(db);
  const tenant = query<[tenant: string]>(db, 'SELECT tenant FROM runs WHERE context = ? LIMIT 1');
  return {
    append: (append) => writer.submit(appender.work(append)),
    importRun: async (run, given) => {
      const refusal = await writer.submit(appender.importWork(run, given));
      if (refusal !== null) throw refusal;
    },
    read: async (range) => read(() => rows.read(range)),
    head: async (runId) =>
      read(() => {
        const head = heads.get(runId)?.head;
        if (head === undefined) return null;
        const { record, seq, hash, fence, owner } = head;
        return { record, seq, hash, fence, owner };
      }),
    contextTenant: async (contextId) => read(() => tenant.get(contextId)?.[0] ?? null),
    follow: (listener) => followers.add(listener),
    changes: async (range) => read(() => changes.read(range)),
    end: async () => read(() => String(changes.end())),
  };
}

class RowReader {
  readonly #heads: HeadCache;
  readonly #run: Query<EventColumns>;
  readonly #clientRun: Query<EventColumns>;
  readonly #framesOfRun: Query<EventColumns>;
  readonly #framesOfClientRun: Query<EventColumns>;
  readonly #merge: ContextMerge;

  constructor(db: DatabaseSync, heads: HeadCache) {
    this.#heads = heads;
    const all = `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND seq > ?`;
    const frames = `SELECT ${FRAME_COLUMNS} FROM events WHERE run = ? AND seq > ?`;
    this.#run = query(db, `${all} ORDER BY seq LIMIT ?`);
    this.#clientRun = query(db, `${all} AND audience = 0 ORDER BY seq LIMIT ?`);
    this.#framesOfRun = query(db, `${frames} ORDER BY seq LIMIT ?`);
    this.#framesOfClientRun = query(db, `${frames} AND audience = 0 ORDER BY seq LIMIT ?`);
    this.#merge = new ContextMerge(db);
  }

  read(range: RunRows | ContextRows): readonly Row[] {
    if ('contextId' in range) return this.#merge.read(range);
    const entry = this.#heads.get(range.runId);
    if (entry === null) return [];
    const { contextId } = entry.head.record;
    const isClient = range.audience === 'client';
    const whole = isClient ? this.#clientRun : this.#run;
    const statement = range.isForFrames === true ? (isClient ? this.#framesOfClientRun : this.#framesOfRun) : whole;
    return bounded(range, (after, limit) =>
      statement.all(entry.key, after, limit).map((columns) => rowOf(range.runId, contextId, columns)),
    );
  }
}

/** Rows per SQLite call: enough to amortize the call, few enough that large rows do no harm. */
const FETCH = 100;

type Fetch = (after: number, limit: number) => readonly Row[];

/** Collects rows until their bodies pass the bound; the row that passes it is the last. */
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
