/** A store that lives in memory: for tests, for simulation, and as the plainest reading of what a store must do. */
import type { ContextId, RunId } from '@cairn/protocol';
import { admit, admitImported, given, importedSlot, type RunSlot, type Surroundings, taken, woken } from '../admit.ts';
import { Followers, type ListenerFault } from '../feed/followers.ts';
import type {
  Append,
  Appended,
  Changes,
  ChosenRows,
  ContextRows,
  EventLog,
  ImportRun,
  RunRows,
} from '../ports/event-log.ts';
import { type IdempotencyRecord, maySettle } from '../ports/idempotency.ts';
import type { Census, Claim, Queue } from '../ports/queue.ts';
import type { NewRow, Row } from '../ports/rows.ts';
import type {
  InterruptRecord,
  PendingInterrupt,
  PendingPage,
  PendingQuery,
  RunPage,
  RunQuery,
} from '../ports/run-index.ts';
import type { Store } from '../ports/store.ts';
import { contextTaken, notToSettle, parseListCursor, runExists, storeClosed, wrongEnd } from '../refusals.ts';
import { rememberedChanges } from '../remembered-changes.ts';
import { reindex, sameIndex } from '../run-index.ts';
import { idempotencyKey, memoryRecords } from './records.ts';
import { MemoryRemembered } from './remembered.ts';

export interface InMemoryStoreOptions {
  /** Told when a listener of `follow` throws. Default: the error surfaces as an uncaught one. */
  readonly onFault?: ListenerFault;
}

/** An empty store. What it acknowledged lasts as long as the process. */
export function inMemoryStore(options: InMemoryStoreOptions = {}): Store {
  const memory = new Memory(options.onFault);
  const log: EventLog = {
    append: async (append) => {
      const appended = memory.append(append);
      // Listeners never run inside the caller's own call, as with a store that commits to disk.
      await null;
      memory.tellNext();
      return appended;
    },
    read: async (range) => memory.read(range),
    changes: async (range) => memory.changes(range),
    end: async () => memory.end(),
    follow: (listener) => memory.followers.add(listener),
    contextTenant: async (contextId) => memory.contextTenant(contextId),
    head: async (runId) => {
      const slot = memory.open().get(runId)?.slot;
      return slot === undefined
        ? null
        : { record: slot.record, seq: slot.seq, hash: slot.hash, fence: slot.fence, owner: slot.owner };
    },
    list: async (query) => memory.list(query),
    interrupts: async (runId) => [...(memory.open().get(runId)?.interrupts.values() ?? [])],
    pending: async (query) => memory.pending(query),
    importRun: async (run, rows) => memory.importRun(run, [...rows]),
    rebuild: async () => memory.rebuild(),
  };
  const queue: Queue = {
    claim: async (request) => memory.claim(request),
    renew: async ({ owner, until }) => void memory.session(owner, until),
    release: async ({ runId, fence, wakeAt }) => memory.release(runId, fence, wakeAt),
    due: async () => memory.due(),
    census: async (now) => memory.census(now),
  };
  const records = memoryRecords(memory, () => memory.open());
  return { log, queue, records, close: async () => memory.close() };
}

/** One run with all it has. */
interface MemoryRun {
  readonly place: number;
  slot: RunSlot;
  readonly rows: Row[];
  readonly interrupts: Map<string, InterruptRecord>;
}

class Memory implements Surroundings {
  readonly followers: Followers;
  /** By tenant, endpoint and key, as one JSON text. */
  readonly idempotency = new Map<string, IdempotencyRecord>();
  readonly remembered = new MemoryRemembered((runId) => {
    const run = this.#runs.get(runId);
    return run === undefined ? undefined : { record: run.slot.record, rows: run.rows };
  });
  readonly #runs = new Map<RunId, MemoryRun>();
  readonly #contexts = new Map<ContextId, Row[]>();
  /** Of all runs, in cursor order. */
  readonly #rows: Row[] = [];
  readonly #sessions = new Map<string, number>();
  readonly #untold: { readonly runId: RunId; readonly contextId: ContextId; readonly rows: readonly Row[] }[] = [];
  /** Every interrupt of the runs written here, in the order they were asked. */
  readonly #asked: Pick<InterruptRecord, 'runId' | 'interruptId'>[] = [];
  #cursor = 0;
  #closed = false;

  constructor(fault?: ListenerFault) {
    this.followers = new Followers(fault);
  }

  /** The runs, as long as the store is open. */
  open(): ReadonlyMap<RunId, MemoryRun> {
    if (this.#closed) throw storeClosed();
    return this.#runs;
  }

  close(): void {
    this.#closed = true;
  }

  alive(owner: string, now: number): boolean {
    return (this.#sessions.get(owner) ?? 0) > now;
  }

  activeIn(tenant: string, scopeId: string): RunId | null {
    for (const { slot } of this.#runs.values()) {
      const { record } = slot;
      const isOfScope = record.tenant === tenant && record.scopeId === scopeId;
      if (isOfScope && record.endedAt === null && record.importedAt === null) return record.runId;
    }
    return null;
  }

  wasAsked(runId: RunId, interruptId: string): boolean {
    return this.#runs.get(runId)?.interrupts.has(interruptId) === true;
  }

  append(append: Append): Appended {
    const { runId, outcomes = [], claim } = append;
    const run = this.open().get(runId);
    const { slot, rows, interrupts, remembered } = admit(append, run?.slot ?? null, this.#cursor, this);
    for (const outcome of outcomes) {
      if (!maySettle(this.idempotency.get(idempotencyKey(outcome.record)) ?? null, outcome.owner))
        throw notToSettle(outcome);
    }
    // From here on nothing throws: what follows is the commit.
    this.#cursor += rows.length;
    const kept: MemoryRun = run ?? { place: this.#runs.size + 1, slot, rows: [], interrupts: new Map() };
    this.#runs.set(runId, kept);
    kept.slot = slot;
    kept.rows.push(...rows);
    for (const record of interrupts) {
      if (!kept.interrupts.has(record.interruptId)) this.#asked.push(record);
      kept.interrupts.set(record.interruptId, record);
    }
    const { contextId, tenant } = slot.record;
    for (const change of remembered) this.remembered.apply(tenant, change);
    const context = this.#contexts.get(contextId) ?? [];
    this.#contexts.set(contextId, context);
    context.push(...rows);
    this.#rows.push(...rows);
    if (claim !== undefined) this.session(claim.owner, Math.max(claim.until, this.#sessions.get(claim.owner) ?? 0));
    for (const wake of append.wakes ?? []) this.#wake(wake.runId, wake.at);
    for (const { record } of outcomes) this.idempotency.set(idempotencyKey(record), record);
    this.#untold.push({ runId, contextId, rows });
    return { seq: rows[0]!.seq, cursor: this.#cursor, fence: slot.fence };
  }

  importRun(run: ImportRun, given: readonly NewRow[]): void {
    const runs = this.open();
    const { runId, contextId, tenant } = run;
    if (runs.has(runId)) throw runExists(runId);
    const isForeign = ({ slot: { record } }: MemoryRun) => record.contextId === contextId && record.tenant !== tenant;
    if ([...runs.values()].some(isForeign)) throw contextTaken(run);
    const start = importedSlot(run, given[0]?.at ?? run.importedAt);
    if (given.length === 0) throw wrongEnd(run, start);
    const { slot, rows, interrupts } = admitImported(start, given, this.#cursor);
    if (slot.seq !== run.seq || slot.hash !== run.hash) throw wrongEnd(run, slot);
    this.#cursor += rows.length;
    const inbox = new Map(interrupts.map((record) => [record.interruptId, record]));
    this.#runs.set(runId, { place: this.#runs.size + 1, slot, rows: [...rows], interrupts: inbox });
    this.#contexts.set(contextId, [...(this.#contexts.get(contextId) ?? []), ...rows]);
  }

  /** Each append tells one commit, in the order they were made. */
  tellNext(): void {
    const commit = this.#untold.shift();
    if (commit !== undefined) this.followers.tell(commit);
  }

  read(range: RunRows | ContextRows): readonly Row[] {
    const runs = this.open();
    const [rows, start] =
      'runId' in range
        ? [runs.get(range.runId)?.rows ?? [], range.after + 1]
        : afterCursor(this.#contexts.get(range.contextId) ?? [], range.afterCursor);
    const { limit, audience, maxBytes = Number.POSITIVE_INFINITY } = range;
    const found: Row[] = [];
    let bytes = 0;
    for (let i = start; i < rows.length && found.length < limit && bytes < maxBytes; i += 1) {
      const row = rows[i]!;
      if (audience !== undefined && row.audience !== audience) continue;
      found.push(row);
      bytes += row.payload.length + (row.task?.length ?? 0);
    }
    return found;
  }

  contextTenant(contextId: ContextId): string | null {
    const runs = this.open();
    const [first] = this.#contexts.get(contextId) ?? [];
    return first === undefined ? null : runs.get(first.runId)!.slot.record.tenant;
  }

  changes({ after, limit, maxBytes = Infinity, only }: Parameters<EventLog['changes']>[0]): Changes {
    const runs = this.open();
    const [all, start] = afterCursor(this.#rows, Number(after));
    const rows: Row[] = [];
    let bytes = 0;
    let position = Number(after);
    for (const row of all.slice(start, start + limit)) {
      if (bytes >= maxBytes) break;
      position = row.cursor;
      if (only !== undefined && !isChosen(row, runs.get(row.runId)!.slot.record, only)) continue;
      rows.push(row);
      bytes += row.payload.length + (row.task?.length ?? 0);
    }
    return { rows, position: String(position) };
  }

  end(): string {
    this.open();
    return String(this.#cursor);
  }

  list({ tenant, status, workflowId, tag, limit, cursor }: RunQuery): RunPage {
    const before = parseListCursor(cursor) ?? Number.POSITIVE_INFINITY;
    const matching = [...this.open().values()].reverse().filter(({ place, slot: { record } }) => {
      if (place >= before || record.tenant !== tenant) return false;
      if (status !== undefined && record.status !== status) return false;
      if (workflowId !== undefined && record.workflowId !== workflowId) return false;
      return tag === undefined || record.tags.includes(tag);
    });
    const page = matching.slice(0, limit);
    const nextCursor = matching.length > limit ? String(page.at(-1)!.place) : null;
    return { runs: page.map((run) => run.slot.record), nextCursor };
  }

  pending({ tenant, limit, cursor }: PendingQuery): PendingPage {
    const runs = this.open();
    const found: PendingInterrupt[] = [];
    for (let place = parseListCursor(cursor) ?? 0; place < this.#asked.length; place += 1) {
      if (found.length === limit) return { interrupts: found, nextCursor: String(place) };
      const { runId, interruptId } = this.#asked[place]!;
      const { slot, interrupts } = runs.get(runId)!;
      const one = interrupts.get(interruptId);
      if (one?.open === true && slot.record.tenant === tenant) {
        found.push({ ...one, workflowId: slot.record.workflowId });
      }
    }
    return { interrupts: found, nextCursor: null };
  }

  rebuild(): { readonly runs: number; readonly repaired: number } {
    let repaired = 0;
    this.remembered.clear();
    for (const run of this.open().values()) {
      const { tenant, importedAt } = run.slot.record;
      if (importedAt === null) for (const change of rememberedChanges(run.rows)) this.remembered.apply(tenant, change);
      const fresh = reindex(run.slot.record, run.rows);
      if (!sameIndex(fresh, { record: run.slot.record, interrupts: run.interrupts })) repaired += 1;
      run.slot = { ...run.slot, record: fresh.record, open: fresh.open };
      run.interrupts.clear();
      for (const [id, record] of fresh.interrupts) run.interrupts.set(id, record);
    }
    return { runs: this.#runs.size, repaired };
  }

  claim({ owner, now, until, limit }: Parameters<Queue['claim']>[0]): readonly Claim[] {
    const claimable = [...this.open().values()]
      .filter(({ slot }) => (slot.owner === null ? (slot.wakeAt ?? Infinity) <= now : !this.alive(slot.owner, now)))
      .sort((a, b) => (a.slot.wakeAt ?? 0) - (b.slot.wakeAt ?? 0) || a.place - b.place)
      .slice(0, limit);
    this.session(owner, Math.max(until, this.#sessions.get(owner) ?? 0));
    return claimable.map((run) => {
      run.slot = taken(run.slot, owner);
      return { runId: run.slot.record.runId, fence: run.slot.fence };
    });
  }

  session(owner: string, until: number): void {
    this.open();
    this.#sessions.set(owner, until);
  }

  release(runId: RunId, fence: number, wakeAt: number | null): void {
    const run = this.open().get(runId);
    if (run === undefined || run.slot.owner === null || run.slot.fence !== fence) return;
    run.slot = given(run.slot, wakeAt);
  }

  due(): number | null {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { slot } of this.open().values()) {
      const at = slot.owner === null ? slot.wakeAt : (this.#sessions.get(slot.owner) ?? 0);
      if (at !== null && at < earliest) earliest = at;
    }
    return Number.isFinite(earliest) ? earliest : null;
  }

  census(now: number): Census {
    const unfinished = [...this.open().values()].filter(
      ({ slot: { record } }) => record.endedAt === null && record.importedAt === null,
    );
    const due = unfinished.filter(({ slot }) => slot.owner === null && (slot.wakeAt ?? Infinity) <= now);
    return { active: unfinished.length, due: due.length };
  }

  #wake(runId: RunId, at: number): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) run.slot = woken(run.slot, at);
  }
}

const isChosen = (row: Row, { tenant }: { readonly tenant: string }, only: ChosenRows): boolean =>
  tenant === only.tenant && row.audience === 'client' && only.types.includes(row.type);

/** Where the rows after a cursor begin; rows lie in cursor order. */
function afterCursor(rows: readonly Row[], cursor: number): readonly [readonly Row[], number] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.cursor <= cursor) low = middle + 1;
    else high = middle;
  }
  return [rows, low];
}
