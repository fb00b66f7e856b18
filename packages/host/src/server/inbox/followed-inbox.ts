/** The open questions of one tenant, in memory while they are followed, and kept level with the log. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { contextId, foldEventOf, type InboxChange, type InboxEntry, interruptEnd, type RunId } from '@cairn/protocol';
import { foldRunIndex, type IndexedRun, newRunIndex, noteInterrupts } from '../../log/fold-run-index.ts';
import type { ChangeLog } from '../../log/ports/changes.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { InterruptRecord, RunIndex } from '../../log/ports/run-index.ts';
import { AskedRoom } from './asked-room.ts';
import { type EntrySource, entryOf } from './entries.ts';

/** Types of the rows that ask a question, pass it on to people, vote on it or close it. */
export const inboxTypes: readonly string[] = [
  'interrupt.requested',
  'cairn.input.forwarded',
  'interrupt.resolved',
  'approval.received',
  'node.completed',
  'node.failed',
  'node.skipped',
  'node.cancelled',
  'run.completed',
  'run.failed',
  'run.cancelled',
];

/** Most that is read in one turn of the event loop. */
const PAGE = { limit: 2_000, maxBytes: 524_288 };
const PENDING_PAGE = 100;

export interface FollowedInboxPorts extends EntrySource {
  readonly log: Pick<EventLog, 'read'>;
  readonly changes: Pick<ChangeLog, 'read' | 'end'>;
  readonly runIndex: Pick<RunIndex, 'pending'>;
  /** Most questions that are held; the oldest ones. */
  readonly capacity: number;
}

/** What a reading found: changes in order, or that the inbox was built anew and only a snapshot describes it. */
export type InboxReading =
  | { readonly kind: 'changes'; readonly changes: readonly InboxChange[] }
  | { readonly kind: 'rebuilt' };

type Key = `${RunId} ${string}`;

const keyOf = ({ runId, interruptId }: Pick<InterruptRecord, 'runId' | 'interruptId'>): Key =>
  `${runId} ${interruptId}`;

export class FollowedInbox {
  readonly #tenant: string;
  readonly #ports: FollowedInboxPorts;
  /** Runs with open questions. */
  readonly #runs = new Map<RunId, IndexedRun>();
  readonly #entries = new Map<Key, InboxEntry>();
  #room = new AskedRoom();
  #isComplete = true;
  #position: string | null = null;

  constructor(tenant: string, ports: FollowedInboxPorts) {
    this.#tenant = tenant;
    this.#ports = ports;
  }

  /** Its position in the log; null before the first reading. */
  get position(): string | null {
    return this.#position;
  }

  /** Whether a question of this run is held. */
  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  snapshot(): InboxChange {
    return { type: 'snapshot', entries: [...this.#entries.values()], complete: this.#isComplete };
  }

  /** Reads the log up to its end. */
  async readOn(): Promise<InboxReading> {
    if (this.#position === null) return this.#begin();
    const changes: InboxChange[] = [];
    const filter = { tenant: this.#tenant, types: inboxTypes };
    for (;;) {
      const { rows, position } = await this.#ports.changes.read({ after: this.#position, ...PAGE, filter });
      for (const row of rows) changes.push(...(await this.#take(row)));
      if (position === this.#position) break;
      this.#position = position;
      await nextTurn();
    }
    // When half of the room is free, questions that did not fit move up.
    const hasRoom = !this.#isComplete && this.#entries.size <= this.#ports.capacity / 2;
    return hasRoom ? this.#begin() : { kind: 'changes', changes };
  }

  /** The position is taken first: a change during the read of the questions is read again as a change. */
  async #begin(): Promise<InboxReading> {
    const { changes, runIndex, capacity } = this.#ports;
    const position = await changes.end();
    this.#runs.clear();
    this.#entries.clear();
    this.#room = new AskedRoom();
    this.#isComplete = true;
    for (let cursor: string | undefined; ; ) {
      const page = await runIndex.pending({ tenant: this.#tenant, limit: PENDING_PAGE, cursor });
      for (const asked of page.interrupts) {
        if (this.#entries.size < capacity) await this.#seed(asked);
        else this.#isComplete = false;
      }
      if (page.nextCursor === null || !this.#isComplete) break;
      cursor = page.nextCursor;
    }
    this.#position = position;
    return { kind: 'rebuilt' };
  }

  async #seed({ workflowId: _, ...asked }: InterruptRecord & { readonly workflowId: string }): Promise<void> {
    const entry = await entryOf(this.#ports, asked);
    if (entry !== null) this.#entries.set(keyOf(asked), this.#room.fitted(entry));
    const known = this.#runs.get(asked.runId) ?? this.#empty(asked.runId);
    this.#runs.set(asked.runId, { ...known, open: new Map(known.open).set(asked.interruptId, asked) });
  }

  /** Folds a row with the function that makes the store's index. */
  async #take(row: Row): Promise<readonly InboxChange[]> {
    const { runId, type, seq } = row;
    const before = this.#runs.get(runId) ?? (type === 'interrupt.requested' ? this.#empty(runId) : null);
    if (before === null) return [];
    const after = foldRunIndex(before, { ...row, nodeId: row.nodeId ?? undefined }, seq);
    const noted = new Map<string, InterruptRecord>();
    noteInterrupts(noted, before, after);
    const changes: InboxChange[] = [];
    if (type === 'cairn.input.forwarded') changes.push(...(await this.#forwarded(before, row)));
    for (const asked of noted.values()) changes.push(...(asked.open ? await this.#put(asked) : this.#drop(asked, row)));
    if (after.open.size === 0) this.#runs.delete(runId);
    else this.#runs.set(runId, after);
    return changes;
  }

  /** The question was with an agent until now. */
  async #forwarded({ open }: IndexedRun, row: Row): Promise<readonly InboxChange[]> {
    const event = foldEventOf(row);
    const asked = event.type === 'cairn.input.forwarded' ? open.get(event.payload.inputId) : undefined;
    return asked === undefined || this.#entries.has(keyOf(asked)) ? [] : this.#put(asked);
  }

  async #put(asked: InterruptRecord): Promise<readonly InboxChange[]> {
    const key = keyOf(asked);
    const isKnown = this.#entries.has(key);
    if (!isKnown && this.#entries.size >= this.#ports.capacity) {
      this.#isComplete = false;
      return [];
    }
    const found = await entryOf(this.#ports, asked);
    if (found === null) return [];
    this.#remove(key);
    const entry = this.#room.fitted(found);
    this.#entries.set(key, entry);
    return [{ type: isKnown ? 'changed' : 'added', entry }];
  }

  #drop(asked: InterruptRecord, row: Row): readonly InboxChange[] {
    if (!this.#remove(keyOf(asked))) return [];
    const { runId, interruptId } = asked;
    return [{ type: 'removed', runId, interruptId, end: endBy(row) }];
  }

  #remove(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#room.free(entry);
    return this.#entries.delete(key);
  }

  #empty(runId: RunId): IndexedRun {
    // Only its open questions are used.
    return newRunIndex(runId, { tenant: this.#tenant, contextId: contextId(''), originRunId: runId }, 0);
  }
}

/** How the row that closes a question ends it. */
function endBy(row: Row): 'resolved' | 'expired' | 'cancelled' {
  const event = foldEventOf(row);
  if (event.type !== 'interrupt.resolved') return 'cancelled';
  return interruptEnd(event.payload.reason);
}
