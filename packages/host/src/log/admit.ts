/** Admits one append to a run: checks guards, stamps rows, folds the index. Pure, so all stores behave alike. */
import type { ContextId, RunId } from '@cairn/protocol';
import { invariant, RetryableError, TerminalError } from '@cairn/protocol';
import {
  type ArtifactQueries,
  admitArtifacts,
  admitImportedArtifacts,
  type WritesArtifacts,
} from './admit-artifacts.ts';
import { chainHash, chainStart, rowHash } from './chain.ts';
import { checkRows } from './check-rows.ts';
import { foreignContext, quotaExceeded, runAlreadyActive, runExists, runImported } from './errors.ts';
import { asksNobody, foldRunIndex, type IndexedRun, newRunIndex, noteInterrupts } from './fold-run-index.ts';
import { type MemoryChange, memoryChanges } from './memory-changes.ts';
import type { Append, ImportRun } from './ports/event-log.ts';
import { ROW_OVERHEAD_BYTES } from './ports/row-bytes.ts';
import type { NewRow, Row } from './ports/rows.ts';
import type { InterruptRecord } from './ports/run-index.ts';
import { faceColumns } from './tasks/face-columns.ts';

/** The head of a run with all state that the next append depends on. Immutable: each append replaces it. */
export interface FullHead extends IndexedRun {
  /** seq of the last row. */
  readonly seq: number;
  /** hash of the last row. */
  readonly hash: string;
  /** Instant of the last row. */
  readonly at: number;
  readonly fence: number;
  /** Holder of the lease. The lease is alive while the owner's session is. */
  readonly owner: string | null;
  /** When the run becomes due. Kept while the lease is held, so that a concurrent wake is not lost. */
  readonly wakeAt: number | null;
}

/** Queries that the guards send to the store beyond the run itself. */
export interface GuardQueries extends ArtifactQueries {
  /** Whether the owner's session lasts beyond this instant. */
  isAlive(owner: string, now: number): boolean;
  /** A run of this tenant and scope that has not ended. */
  activeRun(tenant: string, scopeId: string): RunId | null;
  /** The bytes of the tenant's events and blobs. */
  tenantBytes(tenant: string): number;
  /** Whose a context is; null when no run is in it. */
  contextTenant(contextId: ContextId): string | null;
  /** Whether this run ever requested this interrupt, given that it is not open now. */
  wasRequested(runId: RunId, interruptId: string): boolean;
}

export interface Admitted {
  readonly head: FullHead;
  readonly rows: readonly Row[];
  /** Interrupts that opened, changed or closed. */
  readonly interrupts: readonly InterruptRecord[];
}

/** An admitted append to a local run. Rows of an imported run or of a replay never change memories. */
export interface AdmittedAppend extends Admitted, WritesArtifacts {
  readonly memories: readonly MemoryChange[];
}

/** Checks every guard of an append and returns the rows and state to store. Throws on failure, changing nothing. */
export function admit(append: Append, before: FullHead | null, cursor: number, guards: GuardQueries): AdmittedAppend {
  checkRows(append);
  const head = before === null ? created(append) : guarded(append, before, guards);
  const leased = takeLease(append, head, guards);
  if (append.at !== undefined && append.at !== head.seq + 1) throw wrongPosition(append, head);
  checkQuota(append, head, guards);
  const stamped = stamp(append, leased, cursor);
  if (append.isAloneInScope === true) checkAlone(stamped.head, guards);
  if (append.isNamedContext === true) checkContext(stamped.head, guards);
  const after = append.rest === undefined ? stamped.head : released(stamped.head, append.rest.wakeAt);
  const { rows, interrupts } = stamped;
  const memories = asksNobody(after.record) ? noMemories : memoryChanges(rows);
  const { artifacts, blobs } = admitArtifacts(after.record, rows, guards);
  return { head: after, rows, interrupts, memories, artifacts, blobs };
}

/** The run after a new owner claims its lease. The claim consumes the pending wake. */
export const claimed = (head: FullHead, owner: string): FullHead => ({
  ...head,
  owner,
  fence: head.fence + 1,
  wakeAt: null,
});

/** The run after its lease is released. A wake that arrived during the lease wins if it is earlier. */
export const released = (head: FullHead, wakeAt: number | null): FullHead =>
  head.record.endedAt !== null ? head : { ...head, owner: null, wakeAt: earlier(head.wakeAt, wakeAt) };

/** The run after a wake. Ended and imported runs are never woken. */
export const woken = (head: FullHead, at: number): FullHead =>
  head.record.endedAt !== null || head.record.importedAt !== null
    ? head
    : { ...head, wakeAt: earlier(head.wakeAt, at) };

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** An imported run before its first row. */
export const importedHead = (run: ImportRun, at: number): FullHead => ({
  ...newRunIndex(run.runId, run, at),
  ...beforeFirstRow(run.originRunId, at),
});

/** Admits the next rows of an imported run. Their positions are final, so they are checked, never moved. */
export function admitImported(
  head: FullHead,
  rows: readonly NewRow[],
  cursor: number,
  guards: Pick<GuardQueries, 'hasBlob'>,
): Admitted & WritesArtifacts {
  const next = { runId: head.record.runId, rows, at: head.seq + 1 };
  invariant(head.record.endedAt === null, 'terminal-row-is-last', { runId: next.runId });
  checkRows(next);
  const stamped = stamp(next, head, cursor);
  return { ...stamped, ...admitImportedArtifacts(head.record, stamped.rows, guards) };
}

const beforeFirstRow = (originRunId: RunId, at: number) => ({
  seq: -1,
  hash: chainStart(originRunId),
  at,
  fence: 0,
  owner: null,
  wakeAt: null,
});

function created(append: Append): FullHead {
  const { create, runId } = append;
  if (create === undefined) {
    throw new TerminalError('not_found', {
      message: `There is no run ${runId}.`,
      hint: 'Check the id; a run exists once its first append was acknowledged.',
    });
  }
  const at = firstOf(append.rows).at;
  return { ...newRunIndex(runId, create, at), ...beforeFirstRow(create.originRunId, at) };
}

function firstOf(rows: readonly NewRow[]): NewRow {
  const [first] = rows;
  invariant(first !== undefined, 'append-has-rows');
  return first;
}

function guarded(append: Append, head: FullHead, guards: GuardQueries): FullHead {
  const { runId, answers, fence } = append;
  if (append.create !== undefined) {
    throw runExists(runId);
  }
  if (head.record.importedAt !== null) throw runImported(runId);
  if (answers !== undefined && !head.open.has(answers)) throw notOpen(runId, answers, guards);
  if (head.record.endedAt !== null) {
    throw new TerminalError('run_terminal', {
      message: `Run ${runId} is ${head.record.status}; nothing follows its last event (${head.seq}).`,
      hint: 'Start a new run.',
    });
  }
  if (fence !== undefined && (fence !== head.fence || head.owner === null)) {
    throw new RetryableError('lease_lost', {
      message: `Run ${runId} was written under lease ${fence}, but ${head.owner === null ? 'nobody holds it' : `lease ${head.fence} is current`}.`,
      hint: 'Drop what was computed, and leave the run to the node that claims it.',
      details: { fence, current: head.fence },
    });
  }
  return head;
}

/** Refuses what would take a tenant past its quota. Checked before anything is stamped or written. */
function checkQuota({ rows, maxTenantBytes }: Append, { record: { tenant } }: FullHead, guards: GuardQueries): void {
  if (maxTenantBytes === undefined) return;
  const used = guards.tenantBytes(tenant);
  if (used + charsOf(rows) > maxTenantBytes) throw quotaExceeded(tenant, used, maxTenantBytes);
}

/** At most the bytes of the rows: characters are cheaper to count, and the quota is exact about what is stored. */
function charsOf(rows: readonly NewRow[]): number {
  let chars = rows.length * ROW_OVERHEAD_BYTES;
  for (const { payload, task } of rows) chars += payload.length + (task === null ? 0 : task.length);
  return chars;
}

function checkAlone({ record }: FullHead, guards: GuardQueries): void {
  const { tenant, scopeId } = record;
  const active = scopeId === null ? null : guards.activeRun(tenant, scopeId);
  if (active !== null && scopeId !== null) throw runAlreadyActive(active, scopeId);
}

function checkContext({ record: { contextId, tenant } }: FullHead, guards: GuardQueries): void {
  if ((guards.contextTenant(contextId) ?? tenant) !== tenant) throw foreignContext(contextId);
}

function takeLease(append: Append, head: FullHead, guards: GuardQueries): FullHead {
  const { claim } = append;
  if (claim === undefined || head.owner === claim.owner) return head;
  if (head.owner !== null && guards.isAlive(head.owner, claim.now)) {
    throw new RetryableError('lease_held', {
      message: `Run ${append.runId} is held by ${head.owner}, so ${claim.owner} cannot take it.`,
      hint: 'Append without a claim and let the holder act on it.',
    });
  }
  return claimed(head, claim.owner);
}

const noMemories: readonly MemoryChange[] = [];

const noInterrupts: readonly InterruptRecord[] = [];

/** Assigns positions and hashes to the rows and folds them into the index. */
function stamp(append: Pick<Append, 'runId' | 'rows' | 'at'>, head: FullHead, cursor: number): Admitted {
  const { runId } = append;
  const { contextId } = head.record;
  const isSubtask = head.record.parentRunId !== null;
  let index: IndexedRun = head;
  let { seq, hash, at } = head;
  let place = cursor;
  const rows: Row[] = [];
  let changes: Map<string, InterruptRecord> | null = null;
  for (const row of append.rows) {
    // A decision keeps its writer's time. A fact may come from a node whose clock lags, so its time is clamped.
    const instant = append.at === undefined ? Math.max(row.at, at) : row.at;
    if (!(instant >= at)) invariant(false, 'row-at-not-decreasing', { runId, seq: seq + 1, at: row.at, previous: at });
    seq += 1;
    place += 1;
    at = instant;
    const stored = {
      runId,
      seq,
      contextId,
      cursor: place,
      at,
      type: row.type,
      nodeId: row.nodeId ?? null,
      cause: row.cause ?? null,
      audience: row.audience,
      payload: row.payload,
      task: row.task,
      face: faceColumns(row.task, { audience: row.audience, isSubtask }),
      rowHash: '',
      hash: '',
    };
    // The hashes are filled in afterwards: on this hot path each row allocates only one object.
    stored.rowHash = rowHash(stored);
    hash = chainHash(hash, stored.rowHash);
    stored.hash = hash;
    rows.push(stored);
    const next = foldRunIndex(index, row, seq);
    if (next.open !== index.open) {
      // Row by row, so that an interrupt opened and closed in one append still leaves its record.
      changes ??= new Map();
      noteInterrupts(changes, index, next);
    }
    index = next;
  }
  const ended = index.record.endedAt !== null;
  const { record, open } = index;
  const { fence } = head;
  const owner = ended ? null : head.owner;
  const after: FullHead = { record, open, seq, hash, at, fence, owner, wakeAt: ended ? null : head.wakeAt };
  return { head: after, rows, interrupts: changes === null ? noInterrupts : [...changes.values()] };
}

function wrongPosition(append: Append, head: FullHead): RetryableError {
  return new RetryableError('conflict', {
    message: `Run ${append.runId} was to get event ${append.at}, but its next is ${head.seq + 1}.`,
    hint: 'Read the new events and decide again.',
    details: { expected: append.at, next: head.seq + 1 },
  });
}

function notOpen(runId: RunId, interruptId: string, guards: GuardQueries): TerminalError {
  return guards.wasRequested(runId, interruptId)
    ? new TerminalError('interrupt_already_resolved', {
        message: `Interrupt ${interruptId} of run ${runId} does not wait any more.`,
        hint: 'Read the run to see how it was resolved.',
      })
    : new TerminalError('interrupt_not_found', {
        message: `Run ${runId} has no interrupt ${interruptId}.`,
        hint: 'List the open interrupts of the run.',
      });
}
