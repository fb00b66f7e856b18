/** The runs this process writes, as the database has them: a bounded cache that the folder lock makes authoritative. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { RunSlot } from '../admit.ts';
import type { InterruptRecord, RunRecord } from '../ports/run-index.ts';
import { INTERRUPT_COLUMNS, interruptOf, RUN_COLUMNS, recordOf } from './columns.ts';

/** How many runs are kept; one that is not here costs three reads. */
const CAPACITY = 10_000;

export interface Entry {
  readonly key: number;
  slot: RunSlot;
}

export class Slots {
  /** Used since the last change of generations, and before it: a read of a young one changes nothing. */
  #young = new Map<RunId, Entry>();
  #old = new Map<RunId, Entry>();
  readonly #run: StatementSync;
  readonly #last: StatementSync;
  readonly #open: StatementSync;
  readonly #saveRun: StatementSync;
  readonly #saveLease: StatementSync;
  /** Entries whose record or lease the table does not have yet, with what it has. */
  readonly #unsaved = new Map<Entry, RunSlot>();

  constructor(db: DatabaseSync) {
    this.#run = db.prepare(
      `SELECT ${RUN_COLUMNS}, runs.fence, runs.owner, runs.wake_at FROM runs
       WHERE runs.id = ?`,
    );
    this.#last = db.prepare('SELECT seq, hash, at FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1');
    this.#open = db.prepare(`SELECT ${INTERRUPT_COLUMNS} FROM interrupts WHERE run = ? AND open = 1 ORDER BY place`);
    this.#saveRun = db.prepare(
      `UPDATE runs SET workflow = ?, definition = ?, principal = ?, status = ?, node = ?, tags = ?, error_code = ?,
         error_message = ?, ended_at = ?, fence = ?, owner = ?, wake_at = ? WHERE key = ?`,
    );
    this.#saveLease = db.prepare('UPDATE runs SET fence = ?, owner = ?, wake_at = ? WHERE key = ?');
    for (const statement of [this.#run, this.#last, this.#open]) statement.setReturnArrays(true);
  }

  get(runId: RunId): Entry | null {
    const young = this.#young.get(runId);
    if (young !== undefined) return young;
    const old = this.#old.get(runId);
    if (old !== undefined) {
      this.keep(runId, old);
      return old;
    }
    const loaded = this.#load(runId);
    if (loaded !== null) this.keep(runId, loaded);
    return loaded;
  }

  keep(runId: RunId, entry: Entry): void {
    this.#young.set(runId, entry);
    if (this.#young.size < CAPACITY / 2) return;
    // What a transaction has touched is young or becomes old here: it is never lost before it is saved.
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Takes over a run's new state; `save` writes what the table shows of it. */
  set(entry: Entry, slot: RunSlot): void {
    const stored = this.#unsaved.get(entry) ?? entry.slot;
    entry.slot = slot;
    if (slot.record !== stored.record || !sameLease(slot, stored)) this.#unsaved.set(entry, stored);
  }

  /** Writes each changed run once, however many appends of the transaction changed it. */
  save(): void {
    for (const [{ key, slot }, stored] of this.#unsaved) {
      const { record: run, fence, owner, wakeAt } = slot;
      if (run === stored.record) {
        this.#saveLease.run(fence, owner, wakeAt, key);
        continue;
      }
      const { workflowId, definitionHash, principal, status, currentNodeId, errorCode, errorMessage, endedAt } = run;
      const tags = JSON.stringify(run.tags);
      const names = [workflowId, definitionHash, principal, status, currentNodeId, tags, errorCode, errorMessage];
      this.#saveRun.run(...names, endedAt, fence, owner, wakeAt, key);
    }
    this.#unsaved.clear();
  }

  /** The next use reads the run from the table. */
  forget(runId: RunId): void {
    this.#young.delete(runId);
    this.#old.delete(runId);
  }

  /** Forgets everything, after a transaction that may or may not have happened. */
  clear(): void {
    this.#unsaved.clear();
    this.#young.clear();
    this.#old.clear();
  }

  #load(runId: RunId): Entry | null {
    const columns = this.#run.get(runId) as unknown as readonly unknown[] | undefined;
    if (columns === undefined) return null;
    const key = columns[0] as number;
    const record: RunRecord = recordOf(columns);
    const [fence, owner, wakeAt] = columns.slice(-3) as [number, string | null, number | null];
    const [seq, hash, at] = this.#last.get(key) as unknown as [number, string, number];
    const open = new Map<string, InterruptRecord>();
    for (const one of this.#open.all(key) as unknown as readonly (readonly unknown[])[]) {
      const interrupt = interruptOf(runId, one);
      open.set(interrupt.interruptId, interrupt);
    }
    return { key, slot: { record, open, seq, hash, at, fence, owner, wakeAt } };
  }
}

const sameLease = (a: RunSlot, b: RunSlot): boolean =>
  a.fence === b.fence && a.owner === b.owner && a.wakeAt === b.wakeAt;
