/** The in-memory event log: the simplest implementation of `append`. */
import { admit, admitImported, type GuardQueries, importedHead, woken } from '../admit.ts';
import { contextTaken, idempotencyRefused, importMismatch, runExists } from '../errors.ts';
import { Followers, type ListenerFault } from '../feed/followers.ts';
import {
  type Append,
  type Appended,
  type Changes,
  type ChangesRange,
  type Commit,
  type ContextRows,
  type EventLog,
  type ImportRun,
  pageBytes,
  type RowFilter,
  type RunRows,
} from '../ports/event-log.ts';
import { maySave } from '../ports/idempotency.ts';
import { bodySize, type NewRow, type Row } from '../ports/rows.ts';
import { idempotencyId, type StoredRun, type Tables } from './tables.ts';

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
    importRun: async (run, rows) => importRun(tables, run, [...rows]),
    read: async (range) => read(tables, range),
    head: async (runId) => {
      const head = tables.runs().get(runId)?.head;
      return head === undefined
        ? null
        : { record: head.record, seq: head.seq, hash: head.hash, fence: head.fence, owner: head.owner };
    },
    contextTenant: async (contextId) => {
      tables.assertOpen();
      const [first] = tables.contexts.get(contextId) ?? [];
      return first === undefined ? null : tables.run(first.runId).head.record.tenant;
    },
    follow: (listener) => followers.add(listener),
    changes: async (range) => changes(tables, range),
    end: async () => {
      tables.assertOpen();
      return String(tables.cursor);
    },
  };
}

const guardQueries = (tables: Tables): GuardQueries => ({
  tenantBytes: (tenant) => tables.logBytes.get(tenant) ?? 0,
  isAlive: (owner, now) => tables.isAlive(owner, now),
  activeRun: (tenant, scopeId) => {
    for (const { head } of tables.runs().values()) {
      const { record } = head;
      const isInScope = record.tenant === tenant && record.scopeId === scopeId;
      if (isInScope && record.endedAt === null && record.importedAt === null) return record.runId;
    }
    return null;
  },
  wasRequested: (runId, interruptId) => tables.runs().get(runId)?.interrupts.has(interruptId) === true,
});

function write(tables: Tables, guards: GuardQueries, append: Append): { appended: Appended; commit: Commit } {
  const { runId, idempotency = [], claim } = append;
  const runs = tables.runs();
  const run = runs.get(runId);
  const { head, rows, interrupts, memories } = admit(append, run?.head ?? null, tables.cursor, guards);
  for (const one of idempotency) {
    if (!maySave(tables.idempotency.get(idempotencyId(one.record)) ?? null, one.owner)) throw idempotencyRefused(one);
  }
  // The commit starts here: nothing below throws.
  tables.cursor += rows.length;
  const stored: StoredRun = run ?? { place: runs.size + 1, head, rows: [], interrupts: new Map() };
  runs.set(runId, stored);
  stored.head = head;
  stored.rows.push(...rows);
  for (const record of interrupts) {
    if (!stored.interrupts.has(record.interruptId)) tables.interrupts.push(record);
    stored.interrupts.set(record.interruptId, record);
  }
  const { contextId, tenant } = head.record;
  tables.addLogBytes(tenant, rows);
  for (const change of memories) tables.memories.apply(tenant, change);
  const context = tables.contexts.get(contextId) ?? [];
  tables.contexts.set(contextId, context);
  context.push(...rows);
  tables.rows.push(...rows);
  if (claim !== undefined) tables.extendSession(claim.owner, claim.until);
  for (const wake of append.wakes ?? []) {
    const woke = runs.get(wake.runId);
    if (woke !== undefined) woke.head = woken(woke.head, wake.at);
  }
  for (const { record } of idempotency) tables.idempotency.set(idempotencyId(record), record);
  return {
    appended: { seq: head.seq - rows.length + 1, cursor: tables.cursor, fence: head.fence },
    commit: { runId, contextId, rows },
  };
}

function importRun(tables: Tables, run: ImportRun, given: readonly NewRow[]): void {
  const runs = tables.runs();
  const { runId, contextId, tenant } = run;
  if (runs.has(runId)) throw runExists(runId);
  const isForeign = ({ head: { record } }: StoredRun) => record.contextId === contextId && record.tenant !== tenant;
  if ([...runs.values()].some(isForeign)) throw contextTaken(run);
  const start = importedHead(run, given[0]?.at ?? run.importedAt);
  if (given.length === 0) throw importMismatch(run, start);
  const { head, rows, interrupts } = admitImported(start, given, tables.cursor);
  if (head.seq !== run.seq || head.hash !== run.hash) throw importMismatch(run, head);
  tables.cursor += rows.length;
  const inbox = new Map(interrupts.map((record) => [record.interruptId, record]));
  runs.set(runId, { place: runs.size + 1, head, rows: [...rows], interrupts: inbox });
  tables.addLogBytes(tenant, rows);
  tables.contexts.set(contextId, [...(tables.contexts.get(contextId) ?? []), ...rows]);
}

function read(tables: Tables, range: RunRows | ContextRows): readonly Row[] {
  const runs = tables.runs();
  const [rows, start] =
    'runId' in range
      ? [runs.get(range.runId)?.rows ?? [], range.after + 1]
      : afterCursor(tables.contexts.get(range.contextId) ?? [], range.afterCursor);
  const { limit, audience } = range;
  const isLocal = 'contextId' in range && range.isLocal === true;
  const maxBytes = pageBytes(range.maxBytes);
  const found: Row[] = [];
  let bytes = 0;
  for (let i = start; i < rows.length && found.length < limit && bytes < maxBytes; i += 1) {
    const row = rows[i];
    if (row === undefined) break;
    if (audience !== undefined && row.audience !== audience) continue;
    if (isLocal && tables.run(row.runId).head.record.importedAt !== null) continue;
    found.push(row);
    bytes += bodySize(row);
  }
  return found;
}

function changes(tables: Tables, { after, limit, maxBytes, filter }: ChangesRange): Changes {
  tables.assertOpen();
  const [all, start] = afterCursor(tables.rows, Number(after));
  const rows: Row[] = [];
  let bytes = 0;
  let position = Number(after);
  for (const row of all.slice(start, start + limit)) {
    if (bytes >= pageBytes(maxBytes)) break;
    position = row.cursor;
    if (filter !== null && !matches(row, tables.run(row.runId).head.record.tenant, filter)) continue;
    rows.push(row);
    bytes += bodySize(row);
  }
  return { rows, position: String(position) };
}

const matches = (row: Row, tenant: string, filter: RowFilter): boolean =>
  tenant === filter.tenant && row.audience === 'client' && filter.types.includes(row.type);

/** The index of the first row after a cursor; rows are in cursor order. */
function afterCursor(rows: readonly Row[], cursor: number): readonly [readonly Row[], number] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] as Row).cursor <= cursor) low = middle + 1;
    else high = middle;
  }
  return [rows, low];
}
