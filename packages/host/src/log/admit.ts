/** What one append does to its run: guards checked, rows stamped, index folded. Pure, so that every store admits alike. */
import type { RunId } from '@cairn/protocol';
import { invariant, RetryableError, TerminalError } from '@cairn/protocol';
import { utf8Size } from '../utf8.ts';
import { chainHash, chainStart, rowHash } from './chain.ts';
import type { Append, ImportRun } from './ports/event-log.ts';
import type { NewRow, Row } from './ports/rows.ts';
import { MAX_EVENT_BYTES } from './ports/rows.ts';
import type { InterruptRecord } from './ports/run-index.ts';
import { alreadyActive, runExists, runImported } from './refusals.ts';
import { type RememberedChange, rememberedChanges } from './remembered-changes.ts';
import { endsRun, foldRunIndex, newRunIndex, noteInterrupts, type RunIndex } from './run-index.ts';

/** All a store needs to know of a run to admit its next append. Replaced as a whole, never changed in place. */
export interface RunSlot extends RunIndex {
  /** seq of the last row. */
  readonly seq: number;
  /** hash of the last row. */
  readonly hash: string;
  /** Instant of the last row. */
  readonly at: number;
  readonly fence: number;
  /** Who holds the lease; it is alive while its session is. */
  readonly owner: string | null;
  /** When the run wants to be claimed. Kept while it is held, so that a wake that arrives meanwhile is not lost. */
  readonly wakeAt: number | null;
}

/** What the guards ask of the store beside the run itself. */
export interface Surroundings {
  /** Whether the owner's session lasts beyond this instant. */
  alive(owner: string, now: number): boolean;
  /** A run of this tenant and scope that has not ended. */
  activeIn(tenant: string, scopeId: string): RunId | null;
  /** Whether this run ever asked this interrupt, given that it is not open now. */
  wasAsked(runId: RunId, interruptId: string): boolean;
}

export interface Admitted {
  readonly slot: RunSlot;
  readonly rows: readonly Row[];
  /** Interrupts that opened, changed or closed. */
  readonly interrupts: readonly InterruptRecord[];
}

/** Of a run that goes on here. What an imported one says of memories is its own history, and changes none here. */
export interface AdmittedAppend extends Admitted {
  readonly remembered: readonly RememberedChange[];
}

/** Checks every guard of an append and gives what to store; throws, having changed nothing, when one does not hold. */
export function admit(append: Append, before: RunSlot | null, cursor: number, around: Surroundings): AdmittedAppend {
  checkRows(append);
  const slot = before === null ? created(append) : guarded(append, before, around);
  const leased = takeLease(append, slot, around);
  if (append.at !== undefined && append.at !== slot.seq + 1) throw wrongPosition(append, slot);
  const stamped = stamp(append, leased, cursor);
  if (append.isAloneInScope === true) checkAlone(stamped.slot, around);
  const after = append.rest === undefined ? stamped.slot : given(stamped.slot, append.rest.wakeAt);
  return { ...stamped, slot: after, remembered: rememberedChanges(stamped.rows) };
}

/** The run after its lease was taken by someone new. The wake that was due is answered by the taking. */
export const taken = (slot: RunSlot, owner: string): RunSlot => ({
  ...slot,
  owner,
  fence: slot.fence + 1,
  wakeAt: null,
});

/** The run after its lease was given back; a wake that came while it was held wins when it is earlier. */
export const given = (slot: RunSlot, wakeAt: number | null): RunSlot =>
  slot.record.endedAt !== null ? slot : { ...slot, owner: null, wakeAt: earlier(slot.wakeAt, wakeAt) };

/** The run after somebody asked for it to be woken; a run that ended or was imported stays asleep. */
export const woken = (slot: RunSlot, at: number): RunSlot =>
  slot.record.endedAt !== null || slot.record.importedAt !== null
    ? slot
    : { ...slot, wakeAt: earlier(slot.wakeAt, at) };

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** An imported run before its first row. */
export const importedSlot = (run: ImportRun, at: number): RunSlot => ({
  ...newRunIndex(run.runId, run, at),
  ...beforeFirstRow(run.originRunId, at),
});

/** The next rows of an imported run. They are at their places already, so what they hold is checked, not moved. */
export function admitImported(slot: RunSlot, rows: readonly NewRow[], cursor: number): Admitted {
  const next = { runId: slot.record.runId, rows, at: slot.seq + 1 };
  invariant(slot.record.endedAt === null, 'terminal-row-is-last', { runId: next.runId });
  checkRows(next);
  return stamp(next, slot, cursor);
}

const beforeFirstRow = (originRunId: RunId, at: number) => ({
  seq: -1,
  hash: chainStart(originRunId),
  at,
  fence: 0,
  owner: null,
  wakeAt: null,
});

function created(append: Append): RunSlot {
  const { create, runId } = append;
  if (create === undefined) {
    throw new TerminalError('not_found', {
      message: `There is no run ${runId}.`,
      hint: 'Check the id; a run exists once its first append was acknowledged.',
    });
  }
  const at = append.rows[0]!.at;
  return { ...newRunIndex(runId, create, at), ...beforeFirstRow(create.originRunId, at) };
}

function guarded(append: Append, slot: RunSlot, around: Surroundings): RunSlot {
  const { runId, answers, fence } = append;
  if (append.create !== undefined) {
    throw runExists(runId);
  }
  if (slot.record.importedAt !== null) throw runImported(runId);
  if (answers !== undefined && !slot.open.has(answers)) throw notOpen(runId, answers, around);
  if (slot.record.endedAt !== null) {
    throw new TerminalError('run_terminal', {
      message: `Run ${runId} is ${slot.record.status}; nothing follows its last event (${slot.seq}).`,
      hint: 'Start a new run.',
    });
  }
  if (fence !== undefined && (fence !== slot.fence || slot.owner === null)) {
    throw new RetryableError('lease_lost', {
      message: `Run ${runId} was written under lease ${fence}, but ${slot.owner === null ? 'nobody holds it' : `lease ${slot.fence} is current`}.`,
      hint: 'Drop what was computed and leave the run to whoever claims it.',
      details: { fence, current: slot.fence },
    });
  }
  return slot;
}

function checkAlone({ record }: RunSlot, around: Surroundings): void {
  const { tenant, scopeId } = record;
  const active = scopeId === null ? null : around.activeIn(tenant, scopeId);
  if (active !== null && scopeId !== null) throw alreadyActive(active, scopeId);
}

function takeLease(append: Append, slot: RunSlot, around: Surroundings): RunSlot {
  const { claim } = append;
  if (claim === undefined || slot.owner === claim.owner) return slot;
  if (slot.owner !== null && around.alive(slot.owner, claim.now)) {
    throw new RetryableError('lease_held', {
      message: `Run ${append.runId} is held by ${slot.owner}, so ${claim.owner} cannot take it.`,
      hint: 'Append without a claim and let the holder act on it.',
    });
  }
  return taken(slot, claim.owner);
}

const noInterrupts: readonly InterruptRecord[] = [];

/** Gives the rows their place and hashes, and folds them into the index. */
function stamp(append: Pick<Append, 'runId' | 'rows' | 'at'>, slot: RunSlot, cursor: number): Admitted {
  const { runId } = append;
  const { contextId } = slot.record;
  let index: RunIndex = slot;
  let { seq, hash, at } = slot;
  let place = cursor;
  const rows: Row[] = [];
  let changes: Map<string, InterruptRecord> | null = null;
  for (const row of append.rows) {
    // A decision was made at an instant its writer knows; a fact may come from a node whose clock is behind.
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
      rowHash: '',
      hash: '',
    };
    // Filled in afterwards: this is the hot path, and one object a row is built once.
    stored.rowHash = rowHash(stored);
    hash = chainHash(hash, stored.rowHash);
    stored.hash = hash;
    rows.push(stored);
    const next = foldRunIndex(index, row, seq);
    if (next.open !== index.open) {
      // Row by row, so that a question asked and withdrawn in one append still leaves its record.
      changes ??= new Map();
      noteInterrupts(changes, index, next);
    }
    index = next;
  }
  const ended = index.record.endedAt !== null;
  const { fence } = slot;
  const lease = ended ? { owner: null, wakeAt: null } : { owner: slot.owner, wakeAt: slot.wakeAt };
  const after: RunSlot = { record: index.record, open: index.open, seq, hash, at, fence, ...lease };
  return { slot: after, rows, interrupts: changes === null ? noInterrupts : [...changes.values()] };
}

function checkRows(append: Pick<Append, 'runId' | 'rows'>): void {
  const { rows, runId } = append;
  invariant(rows.length > 0, 'append-has-rows', { runId });
  const last = rows.length - 1;
  for (let i = 0; i <= last; i++) {
    const row = rows[i]!;
    // Asked before it is insisted on: this runs for every row, and what an error would say need not be put together.
    if (i < last && endsRun(row.type)) invariant(false, 'terminal-row-is-last', { runId, type: row.type });
    if (!isWellFormed(row)) invariant(false, 'row-text-well-formed', { runId, type: row.type });
    checkSize(row, runId);
  }
}

/** A lone surrogate has no UTF-8 form, so a store would give back other text than was hashed. */
const isWellFormed = ({ payload, task, nodeId, type }: NewRow): boolean =>
  payload.isWellFormed() &&
  (task === null || task.isWellFormed()) &&
  (nodeId === undefined || nodeId.isWellFormed()) &&
  type.isWellFormed();

function checkSize(row: NewRow, runId: RunId): void {
  const chars = row.payload.length + (row.task?.length ?? 0);
  // UTF-8 takes at most three bytes for each UTF-16 unit, so most rows need no counting.
  if (chars * 3 <= MAX_EVENT_BYTES) return;
  const bytes = utf8Size(row.payload) + utf8Size(row.task ?? '');
  if (bytes <= MAX_EVENT_BYTES) return;
  throw new TerminalError('event_too_large', {
    message: `An event ${row.type} of run ${runId} has ${bytes} bytes; the limit is ${MAX_EVENT_BYTES}.`,
    hint: 'Keep large values outside the run and pass a reference.',
    details: { bytes, limit: MAX_EVENT_BYTES },
  });
}

function wrongPosition(append: Append, slot: RunSlot): RetryableError {
  return new RetryableError('conflict', {
    message: `Run ${append.runId} was to get event ${append.at}, but its next is ${slot.seq + 1}.`,
    hint: 'Read the new events and decide again.',
    details: { expected: append.at, next: slot.seq + 1 },
  });
}

function notOpen(runId: RunId, interruptId: string, around: Surroundings): TerminalError {
  return around.wasAsked(runId, interruptId)
    ? new TerminalError('interrupt_already_resolved', {
        message: `Interrupt ${interruptId} of run ${runId} does not wait any more.`,
        hint: 'Read the run to see how it was resolved.',
      })
    : new TerminalError('interrupt_not_found', {
        message: `Run ${runId} has no interrupt ${interruptId}.`,
        hint: 'List the open interrupts of the run.',
      });
}
