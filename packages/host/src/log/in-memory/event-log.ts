/** The in-memory event log: the simplest implementation of `append`. */
import { admit, admitImported, type GuardQueries, importedHead, woken } from '../admit.ts';
import { checkOrigins } from '../admit-fork.ts';
import { contextTaken, importMismatch, runExists } from '../errors.ts';
import { Followers, type ListenerFault } from '../feed/followers.ts';
import { asksNobody } from '../fold-run-index.ts';
import {
  type Append,
  type Appended,
  type Commit,
  type ContextRows,
  type EventLog,
  type ImportRun,
  pageBytes,
  type RunRows,
} from '../ports/event-log.ts';
import { bodySize, isTombstone, type NewRow, type Row } from '../ports/rows.ts';
import { runPurged, sharedRowsPurged } from '../ports/run-purged.ts';
import { newestPieces } from './artifacts.ts';
import { contextTenant, purgedTenant } from './contexts.ts';
import { fork } from './fork.ts';
import { checkRecords } from './idempotency.ts';
import { rowAt, type StoredRun } from './stored-run.ts';
import { idempotencyId, type Tables } from './tables.ts';

export function inMemoryEventLog(tables: Tables, onFault?: ListenerFault): EventLog {
  const followers = new Followers(onFault);
  const guards = guardQueries(tables);
  const untold: Commit[] = [];
  return {
    append: async (append) => {
      const { appended, commit } = write(tables, guards, append);
      untold.push(commit);
      // Listeners never run inside the caller's own call, as in a store that commits to disk.
      await null;
      // Each append publishes one commit, in commit order.
      const next = untold.shift();
      if (next !== undefined) followers.tell(next);
      return appended;
    },
    importRun: async (run, rows) => importRun(tables, guards, run, [...rows]),
    fork: async (run) => {
      checkOrigins(run);
      const begun = [run, ...(run.others ?? [])].map((one) => fork(tables, guards, one));
      const appends = begun.flatMap((begin) => begin() ?? []);
      for (const first of appends) untold.push(write(tables, guards, first).commit);
      await null;
      for (const _ of appends) {
        const next = untold.shift();
        if (next !== undefined) followers.tell(next);
      }
    },
    read: async (range) => read(tables, range),
    rowsUntil: async (runId, cursor) => {
      const run = tables.runs().get(runId);
      return run === undefined ? 0 : firstAfter(run, cursor);
    },
    head: async (runId) => {
      const head = tables.runs().get(runId)?.head;
      return head === undefined
        ? null
        : { record: head.record, seq: head.seq, hash: head.hash, fence: head.fence, owner: head.owner };
    },
    purged: async (runId) => {
      tables.assertOpen();
      return tables.purged.get(runId)?.run ?? null;
    },
    follow: (listener) => followers.add(listener),
  };
}

const guardQueries = (tables: Tables): GuardQueries => ({
  tenantBytes: (tenant) => tables.tenantBytes(tenant),
  hasBlob: (tenant, sha256) => tables.blobs.of(tenant).has(sha256),
  newestPieces: (contextId, artifactId) => newestPieces(tables, contextId, artifactId),
  isAlive: (owner, now) => tables.isAlive(owner, now),
  contextTenant: (contextId) => contextTenant(tables, contextId),
  activeRun: (tenant, scopeId) => {
    for (const { head } of tables.runs().values()) {
      const { record } = head;
      const isInScope = record.tenant === tenant && record.scopeId === scopeId;
      if (isInScope && record.endedAt === null && !asksNobody(record)) return record.runId;
    }
    return null;
  },
  wasRequested: (runId, interruptId) => tables.runs().get(runId)?.interrupts.has(interruptId) === true,
});

function write(tables: Tables, guards: GuardQueries, append: Append): { appended: Appended; commit: Commit } {
  const { runId, idempotency = [], claim } = append;
  const runs = tables.runs();
  const run = runs.get(runId);
  const { head, rows, interrupts, memories, blobs } = admit(append, run?.head ?? null, tables.cursor, guards);
  checkRecords(tables, idempotency);
  // The commit starts here: nothing below throws.
  tables.cursor += rows.length;
  const stored: StoredRun = run ?? { place: tables.nextPlace(), head, rows: [], source: null, interrupts: new Map() };
  if (run === undefined) tables.add(stored);
  stored.head = head;
  stored.rows.push(...rows);
  for (const record of interrupts) {
    if (!stored.interrupts.has(record.interruptId)) tables.interrupts.push(record);
    stored.interrupts.set(record.interruptId, record);
  }
  const { contextId, tenant } = head.record;
  tables.addLogBytes(tenant, rows);
  for (const change of memories) tables.memories.apply(tenant, change);
  tables.blobs.name(tenant, runId, blobs);
  tables.rows.push(...rows);
  if (claim !== undefined) tables.extendSession(claim.owner, claim.until);
  for (const wake of append.wakes ?? []) {
    const woke = runs.get(wake.runId);
    if (woke !== undefined) woke.head = woken(woke.head, wake.at);
  }
  for (const { record } of idempotency) {
    tables.idempotency.set(idempotencyId(record), record);
    tables.requestRuns.set(idempotencyId(record), runId);
  }
  return {
    appended: { seq: head.seq - rows.length + 1, cursor: tables.cursor, fence: head.fence },
    commit: { runId, contextId, rows },
  };
}

function importRun(tables: Tables, guards: GuardQueries, run: ImportRun, given: readonly NewRow[]): void {
  const runs = tables.runs();
  const { runId, contextId, tenant } = run;
  if (runs.has(runId)) throw runExists(runId);
  const isForeign = ({ head: { record } }: StoredRun) => record.tenant !== tenant;
  const purged = tables.purged.get(runId)?.run;
  if (purged !== undefined) throw purged.tenant === tenant ? runPurged(purged) : runExists(runId);
  const isTaken =
    tables.contexts.get(contextId)?.some(isForeign) === true || (purgedTenant(tables, contextId) ?? tenant) !== tenant;
  if (isTaken) throw contextTaken(run);
  const start = importedHead(run, given[0]?.at ?? run.importedAt);
  if (given.length === 0) throw importMismatch(run, start);
  const { head, rows, interrupts, blobs } = admitImported(start, given, tables.cursor, guards);
  if (head.seq !== run.seq || head.hash !== run.hash) throw importMismatch(run, head);
  tables.cursor += rows.length;
  const inbox = new Map(interrupts.map((record) => [record.interruptId, record]));
  tables.add({ place: tables.nextPlace(), head, rows: [...rows], source: null, interrupts: inbox });
  tables.addLogBytes(tenant, rows);
  tables.blobs.name(tenant, runId, blobs);
}

function read(tables: Tables, range: RunRows | ContextRows): readonly Row[] {
  const runs = tables.runs();
  const { limit } = range;
  const audience = 'contextId' in range && range.isForTasks === true ? undefined : range.audience;
  const maxBytes = pageBytes(range.maxBytes);
  const found: Row[] = [];
  let bytes = 0;
  if (limit < 1) return found;
  for (const row of 'runId' in range ? rowsAfter(runs.get(range.runId), range.after) : merged(tables, range)) {
    if (isTombstone(row)) throw sharedRowsPurged(row.runId);
    if (audience !== undefined && row.audience !== audience) continue;
    found.push(row);
    bytes += bodySize(row);
    if (found.length >= limit || bytes >= maxBytes) break;
  }
  return found;
}

function* rowsAfter(run: StoredRun | undefined, after: number): Iterable<Row> {
  if (run === undefined) return;
  for (let seq = after + 1; seq <= run.head.seq; seq += 1) {
    const row = rowAt(run, seq);
    if (row !== undefined) yield row;
  }
}

/** The rows of a context in the order of their cursors, whichever runs have them. */
function* merged(tables: Tables, { contextId, afterCursor, isLocal = false }: ContextRows): Iterable<Row> {
  const runs = (tables.contexts.get(contextId) ?? [])
    .filter(({ head }) => !isLocal || head.record.importedAt === null)
    .map((run) => ({ run, seq: firstAfter(run, afterCursor) }));
  for (;;) {
    let first: Row | undefined;
    let from: (typeof runs)[number] | undefined;
    for (const one of runs) {
      const row = rowAt(one.run, one.seq);
      if (row === undefined || (first !== undefined && row.cursor > first.cursor)) continue;
      first = row;
      from = one;
    }
    if (first === undefined || from === undefined) return;
    from.seq += 1;
    yield first;
  }
}

/** The seq of the first row after a cursor: within a run, cursors grow with seq. */
function firstAfter(run: StoredRun, cursor: number): number {
  let low = 0;
  let high = run.head.seq + 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rowAt(run, middle)?.cursor ?? 0) <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}
