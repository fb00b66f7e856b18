/** Appends as work for a transaction: guards from the cached runs, then rows, index, wakes and outcome together. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type CairnError, isCairnError, type RunId } from '@cairn/protocol';
import {
  type AdmittedAppend,
  admit,
  admitImported,
  importedSlot,
  type RunSlot,
  type Surroundings,
  woken,
} from '../admit.ts';
import type { Followers } from '../feed/followers.ts';
import type { Append, Appended, Commit, ImportRun } from '../ports/event-log.ts';
import type { Settlement } from '../ports/idempotency.ts';
import { maySettle } from '../ports/idempotency.ts';
import type { NewRow, Row } from '../ports/rows.ts';
import type { InterruptRecord } from '../ports/run-index.ts';
import { contextTaken, notToSettle, runExists, wrongEnd } from '../refusals.ts';
import type { Work } from './group-commit.ts';
import { outcomeReader, outcomeWriter } from './idempotency.ts';
import { RememberedTables } from './remembered.ts';
import type { Sessions } from './sessions.ts';
import type { Entry, Slots } from './slots.ts';

/** Rows of an import that are in memory at once. */
const IMPORT_CHUNK = 200;

export class Appender implements Surroundings {
  readonly #slots: Slots;
  readonly #sessions: Sessions;
  readonly #followers: Followers;
  readonly #statements: Statements;
  readonly #remembered: RememberedTables;
  readonly #db: DatabaseSync;
  /** The last place that was given out. A transaction that fails leaves a gap, which cursors may have. */
  #cursor: number;
  #written = 0;

  constructor(db: DatabaseSync, parts: { slots: Slots; sessions: Sessions; followers: Followers }) {
    this.#slots = parts.slots;
    this.#sessions = parts.sessions;
    this.#followers = parts.followers;
    this.#db = db;
    this.#statements = prepare(db);
    this.#remembered = new RememberedTables(db);
    this.#cursor = Number(db.prepare('SELECT max(cursor) AS last FROM events').get()?.last ?? 0);
  }

  /** Rows committed since the store was opened. */
  get written(): number {
    return this.#written;
  }

  alive(owner: string, now: number): boolean {
    return this.#sessions.alive(owner, now);
  }

  wasAsked(runId: RunId, interruptId: string): boolean {
    const entry = this.#slots.get(runId);
    return entry !== null && this.#statements.asked.get(entry.key, interruptId) !== undefined;
  }

  /** What the table shows as going on may have ended earlier in this transaction; the cached run knows. */
  activeIn(tenant: string, scopeId: string): RunId | null {
    for (const { id } of this.#statements.inScope.iterate(tenant, scopeId)) {
      if (this.#slots.get(id as RunId)?.slot.record.endedAt === null) return id as RunId;
    }
    return null;
  }

  work(append: Append): Work<Appended> {
    return new AppendWork(this, append);
  }

  /** Checks every guard; throws, having changed nothing, when one does not hold. */
  admit(append: Append): { readonly entry: Entry | null; readonly admitted: AdmittedAppend } {
    const entry = this.#slots.get(append.runId);
    const admitted = admit(append, entry?.slot ?? null, this.#cursor, this);
    for (const outcome of append.outcomes ?? []) if (!this.#maySettle(outcome)) throw notToSettle(outcome);
    return { entry, admitted };
  }

  tell(commit: Commit): void {
    this.#written += commit.rows.length;
    this.#followers.tell(commit);
  }

  #maySettle({ record: { tenant, endpoint, key }, owner }: Settlement): boolean {
    return maySettle(this.#statements.outcome(tenant, endpoint, key), owner);
  }

  write(append: Append, entry: Entry | null, { slot, rows, interrupts, remembered }: AdmittedAppend): Appended {
    const { runId, claim } = append;
    const key = entry === null ? this.#create(runId, slot) : entry.key;
    if (entry !== null) this.#slots.set(entry, slot);
    for (const row of rows) this.#insert(key, row);
    for (const interrupt of interrupts) this.#interrupt(key, interrupt);
    for (const change of remembered) this.#remembered.apply(slot.record.tenant, key, change);
    if (claim !== undefined) this.#sessions.extend(claim.owner, claim.until);
    for (const wake of append.wakes ?? []) this.#wake(wake.runId, wake.at);
    for (const { record } of append.outcomes ?? []) this.#statements.keepOutcome(record);
    this.#cursor += rows.length;
    return { seq: rows[0]!.seq, cursor: this.#cursor, fence: slot.fence };
  }

  /** Gives the refusal of rows that turn out wrong while they are written: their neighbours in the transaction stay. */
  importWork(run: ImportRun, rows: Iterable<NewRow>): Work<CairnError | null> {
    return {
      rows: IMPORT_CHUNK,
      bytes: 0,
      prepare: () => {
        if (this.#slots.get(run.runId) !== null) throw runExists(run.runId);
        if (this.#statements.foreignRun.get(run.contextId, run.tenant) !== undefined) throw contextTaken(run);
      },
      apply: () => {
        this.#db.exec('SAVEPOINT import');
        try {
          this.#import(run, rows);
          return null;
        } catch (error) {
          if (!isCairnError(error)) throw error;
          this.#db.exec('ROLLBACK TO import');
          this.#slots.forget(run.runId);
          return error;
        } finally {
          if (this.#db.isTransaction) this.#db.exec('RELEASE import');
        }
      },
    };
  }

  #import(run: ImportRun, rows: Iterable<NewRow>): void {
    let slot = importedSlot(run, run.importedAt);
    let key: number | null = null;
    for (const chunk of chunksOf(rows, IMPORT_CHUNK)) {
      if (key === null) slot = importedSlot(run, chunk[0]!.at);
      const admitted = admitImported(slot, chunk, this.#cursor);
      slot = admitted.slot;
      key ??= this.#create(run.runId, slot);
      for (const row of admitted.rows) this.#insert(key, row);
      for (const interrupt of admitted.interrupts) this.#interrupt(key, interrupt);
      this.#cursor += chunk.length;
    }
    if (slot.seq !== run.seq || slot.hash !== run.hash) throw wrongEnd(run, slot);
    this.#slots.set(this.#slots.get(run.runId)!, slot);
  }

  #create(runId: RunId, slot: RunSlot): number {
    const { record: run, fence, owner, wakeAt } = slot;
    const identity = [runId, run.tenant, run.contextId, run.originRunId, run.parentRunId, run.workflowId] as const;
    const index = [run.definitionHash, run.principal, run.status, run.currentNodeId, JSON.stringify(run.tags)] as const;
    const end = [
      run.errorCode,
      run.errorMessage,
      run.createdAt,
      run.endedAt,
      fence,
      owner,
      wakeAt,
      run.importedAt,
      run.scopeId,
    ] as const;
    const key = Number(this.#statements.createRun.run(...identity, ...index, ...end).lastInsertRowid);
    for (const tag of new Set(run.tags)) this.#statements.addTag.run(run.tenant, tag, key);
    this.#slots.keep(runId, { key, slot });
    return key;
  }

  #insert(run: number, row: Row): void {
    const audience = row.audience === 'client' ? 0 : 1;
    const { cursor, seq, at, type, nodeId, cause, payload, task, rowHash, hash } = row;
    this.#statements.insert.run(cursor, run, seq, at, type, nodeId, cause, audience, payload, task, rowHash, hash);
  }

  #interrupt(run: number, { interruptId, nodeId, kind, open, requestedAt, seq, votes }: InterruptRecord): void {
    const state = open ? 1 : 0;
    this.#statements.keepInterrupt.run(run, interruptId, nodeId, kind, state, requestedAt, seq, JSON.stringify(votes));
  }

  #wake(runId: RunId, at: number): void {
    const entry = this.#slots.get(runId);
    if (entry !== null) this.#slots.set(entry, woken(entry.slot, at));
  }
}

/** One append on its way through a transaction. A class: there is one for every step of every run. */
class AppendWork implements Work<Appended> {
  readonly rows: number;
  readonly bytes: number;
  readonly #appender: Appender;
  readonly #append: Append;
  #ready: ReturnType<Appender['admit']> | null = null;

  constructor(appender: Appender, append: Append) {
    this.#appender = appender;
    this.#append = append;
    this.rows = append.rows.length;
    let bytes = 0;
    for (const row of append.rows) bytes += row.payload.length + (row.task?.length ?? 0);
    this.bytes = bytes;
  }

  prepare(): void {
    this.#ready = this.#appender.admit(this.#append);
  }

  apply(): Appended {
    const { entry, admitted } = this.#ready!;
    return this.#appender.write(this.#append, entry, admitted);
  }

  committed(): void {
    const { rows, slot } = this.#ready!.admitted;
    this.#appender.tell({ runId: this.#append.runId, contextId: slot.record.contextId, rows });
  }
}

function* chunksOf<Item>(items: Iterable<Item>, size: number): Generator<readonly Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

interface Statements {
  readonly insert: StatementSync;
  readonly createRun: StatementSync;
  readonly addTag: StatementSync;
  readonly keepInterrupt: StatementSync;
  readonly asked: StatementSync;
  readonly outcome: ReturnType<typeof outcomeReader>;
  readonly keepOutcome: ReturnType<typeof outcomeWriter>;
  readonly inScope: StatementSync;
  readonly foreignRun: StatementSync;
}

const prepare = (db: DatabaseSync): Statements => ({
  insert: db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  createRun: db.prepare('INSERT INTO runs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  addTag: db.prepare('INSERT INTO run_tags VALUES (?, ?, ?)'),
  keepInterrupt: db.prepare(
    `INSERT INTO interrupts (run, id, node, kind, open, requested_at, seq, votes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, id) DO UPDATE SET open = excluded.open, requested_at = excluded.requested_at,
       seq = excluded.seq, votes = excluded.votes`,
  ),
  asked: db.prepare('SELECT 1 FROM interrupts WHERE run = ? AND id = ?'),
  outcome: outcomeReader(db),
  keepOutcome: outcomeWriter(db),
  inScope: db.prepare(
    `SELECT id FROM runs WHERE tenant = ? AND scope = ? AND scope IS NOT NULL AND ended_at IS NULL
       AND imported_at IS NULL`,
  ),
  foreignRun: db.prepare('SELECT 1 FROM runs WHERE context = ? AND tenant <> ? LIMIT 1'),
});
