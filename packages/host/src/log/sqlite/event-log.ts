/** The SQLite event log. Appends go through the group commit; a run is read by its index, a context by its segments. */
import { checkOrigins } from '../admit-fork.ts';
import type { Followers } from '../feed/followers.ts';
import {
  type ContextRows,
  type EventLog,
  type ForkRun,
  type OtherFork,
  pageBytes,
  type RunHead,
  type RunRows,
} from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import { sharedRowsPurged } from '../ports/run-purged.ts';
import type { Appender } from './append/append.ts';
import type { CachedHead, HeadCache } from './append/head-cache.ts';
import { EVENT_COLUMNS, type EventColumns, FRAME_COLUMNS } from './columns.ts';
import type { Work } from './commit/job.ts';
import type { Connection } from './connection.ts';
import { contextTenants } from './context-tenants.ts';
import type { ContextReader } from './contexts/context-reader.ts';
import { withFirstRows } from './forks/first-rows.ts';
import type { Forks, ReadInTurn } from './forks/fork-work.ts';
import { PurgedRows } from './forks/purged-rows.ts';
import { rowsUntil } from './forks/rows-until.ts';
import { together } from './forks/together.ts';
import { type Query, query } from './query.ts';
import { HOST, type InReadTurn, rowsCost } from './read-turns.ts';
import { PurgedRuns } from './retention/purged-runs.ts';
import { rowReader, type ToRow } from './values/read-rows.ts';

interface EventLogPorts extends Connection {
  readonly heads: HeadCache;
  readonly appender: Appender;
  readonly followers: Followers;
  readonly forks: Forks;
  readonly contexts: ContextReader;
  readonly inTurn: InReadTurn;
}

export function sqliteEventLog(ports: EventLogPorts): EventLog {
  const { db, writer, read, heads, appender, followers, forks, inTurn } = ports;
  const rows = new RowReader(ports);
  const purged = new PurgedRuns(db);
  const until = rowsUntil(db);
  const tenantOf = contextTenants(db);
  const ownerOf = (range: RunRows | ContextRows): string =>
    ('runId' in range ? heads.get(range.runId)?.head.record.tenant : tenantOf(range.contextId)) ?? HOST;
  return {
    append: (append) => writer.submit(appender.work(append)),
    importRun: async (run, given) => {
      const refusal = await writer.submit(appender.importWork(run, given));
      if (refusal !== null) throw refusal;
    },
    fork: (run) =>
      forkRuns({ writer, forks, appender }, run, async (step, costOf) => inTurn(() => run.tenant, step, costOf)),
    read: async (range) =>
      inTurn(
        () => ownerOf(range),
        () => rows.read(range),
        rowsCost,
      ),
    rowsUntil: async (runId, cursor) => read(() => until(heads.get(runId), cursor)),
    head: async (runId) => read(() => shownHead(heads.get(runId))),
    purged: async (runId) => read(() => purged.get(runId)),
    follow: (listener) => followers.add(listener),
  };
}

/** Finds the cuts in turns of the event loop, like a reader of the sources, before the transaction. */
async function forkRuns(
  { writer, forks, appender }: Pick<EventLogPorts, 'writer' | 'forks' | 'appender'>,
  run: ForkRun,
  inTurn: ReadInTurn,
) {
  const works: Work<void>[] = [];
  checkOrigins(run);
  for (const one of topFirst(run)) {
    const work = forks.work(one, await forks.cut(one, inTurn));
    const { runId, rows = [], fork } = one;
    const first = rows.length === 0 ? null : appender.work({ runId, rows, at: fork.fromSeq });
    works.push(first === null ? work : withFirstRows(work, first));
  }
  return writer.submit(together(works));
}

/** A run before the runs below it: the wait of a run rises only to runs that are there. */
function topFirst(run: ForkRun): readonly OtherFork[] {
  const { others = [], parentRunId } = run;
  const parent = others.findIndex(({ runId }) => runId === parentRunId);
  return others.toSpliced(parent + 1, 0, run);
}

function shownHead(entry: CachedHead | null): RunHead | null {
  if (entry === null) return null;
  const { record, seq, hash, fence, owner } = entry.head;
  return { record, seq, hash, fence, owner };
}

class RowReader {
  readonly #heads: HeadCache;
  readonly #run: Query<EventColumns>;
  readonly #clientRun: Query<EventColumns>;
  readonly #framesOfRun: Query<EventColumns>;
  readonly #framesOfClientRun: Query<EventColumns>;
  readonly #contexts: ContextReader;
  readonly #purged: PurgedRows;
  readonly #rowOf: ToRow;

  constructor({ db, values, heads, contexts }: Pick<EventLogPorts, 'db' | 'values' | 'heads' | 'contexts'>) {
    this.#heads = heads;
    const all = `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND seq > ? AND seq < ?`;
    const frames = `SELECT ${FRAME_COLUMNS} FROM events WHERE run = ? AND seq > ? AND seq < ?`;
    this.#run = query(db, `${all} ORDER BY seq LIMIT ?`);
    this.#clientRun = query(db, `${all} AND audience = 0 ORDER BY seq LIMIT ?`);
    this.#framesOfRun = query(db, `${frames} ORDER BY seq LIMIT ?`);
    this.#framesOfClientRun = query(db, `${frames} AND audience = 0 ORDER BY seq LIMIT ?`);
    this.#contexts = contexts;
    this.#purged = new PurgedRows(db);
    this.#rowOf = rowReader(values.find);
  }

  /** Steps the statement only as far as the page goes, so that no row beyond it is loaded. */
  read(range: RunRows | ContextRows): readonly Row[] {
    if ('contextId' in range) return this.#contexts.read(range);
    const entry = this.#heads.get(range.runId);
    if (entry === null) return [];
    const { contextId } = entry.head.record;
    const maxBytes = pageBytes(range.maxBytes);
    const statement = this.#statement(range);
    const rows: Row[] = [];
    let bytes = 0;
    for (const { owner, through } of entry.stretches) {
      if (through <= range.after + 1) continue;
      if (owner !== entry.key && this.#purged.firstCursor(owner, range.after + 1, through) !== null)
        throw sharedRowsPurged(range.runId);
      for (const columns of statement.iterate(owner, range.after, through, range.limit - rows.length)) {
        const row = this.#rowOf(range.runId, contextId, columns);
        rows.push(row);
        bytes += bodySize(row);
        if (bytes >= maxBytes) return rows;
      }
      if (rows.length >= range.limit) break;
    }
    return rows;
  }

  #statement({ audience, isForFrames }: RunRows): Query<EventColumns> {
    if (isForFrames === true) return audience === 'client' ? this.#framesOfClientRun : this.#framesOfRun;
    return audience === 'client' ? this.#clientRun : this.#run;
  }
}
