/** The open questions of one tenant as they change: held while somebody follows them, and read on from the log. */
import { setImmediate as othersGoOn } from 'node:timers/promises';
import { contextId, foldEventOf, type InboxChange, type InboxEntry, type RunId } from '@cairn/protocol';
import { foldRunIndex, type IndexedRun, newRunIndex, noteInterrupts } from '../../log/fold-run-index.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { InterruptRecord, RunIndex } from '../../log/ports/run-index.ts';
import { type EntrySource, entryOf } from './entries.ts';

/** Rows by which a question is asked, voted on or closed. */
export const inboxTypes: readonly string[] = [
  'interrupt.requested',
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

/** What is looked at in one go; who has more to do lets others in between. */
const PAGE = { limit: 5_000, maxBytes: 4_194_304 };
const PENDING_PAGE = 100;

export interface FollowedInboxPorts extends EntrySource {
  readonly log: Pick<EventLog, 'changes' | 'end' | 'read'>;
  readonly runIndex: Pick<RunIndex, 'pending'>;
  /** Questions that are held; of more, the oldest are. */
  readonly capacity: number;
}

/** What came of reading on: changes in their order, or all there is, where only that can be told. */
export type Told = { readonly changes: readonly InboxChange[] } | { readonly isAfresh: true };

type Key = `${RunId} ${string}`;

const keyOf = ({ runId, interruptId }: Pick<InterruptRecord, 'runId' | 'interruptId'>): Key =>
  `${runId} ${interruptId}`;

export class FollowedInbox {
  readonly #tenant: string;
  readonly #ports: FollowedInboxPorts;
  /** By run: what waits in it. Runs where nothing does are not here. */
  readonly #runs = new Map<RunId, IndexedRun>();
  readonly #entries = new Map<Key, InboxEntry>();
  #isComplete = true;
  #position: string | null = null;

  constructor(tenant: string, ports: FollowedInboxPorts) {
    this.#tenant = tenant;
    this.#ports = ports;
  }

  /** Where in the log this is; null before the first reading. */
  get position(): string | null {
    return this.#position;
  }

  /** Whether something of this run is held. */
  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  snapshot(): InboxChange {
    return { type: 'snapshot', entries: [...this.#entries.values()], complete: this.#isComplete };
  }

  /** Brings it level with the log. */
  async readOn(): Promise<Told> {
    if (this.#position === null) return this.#begin();
    const changes: InboxChange[] = [];
    const filter = { tenant: this.#tenant, types: inboxTypes };
    for (;;) {
      const { rows, position } = await this.#ports.log.changes({ after: this.#position, ...PAGE, filter });
      for (const row of rows) changes.push(...(await this.#take(row)));
      if (position === this.#position) break;
      this.#position = position;
      await othersGoOn();
    }
    // Those that did not fit move up once there is room for many.
    const hasRoom = !this.#isComplete && this.#entries.size <= this.#ports.capacity / 2;
    return hasRoom ? this.#begin() : { changes };
  }

  /** The position is taken first: what happens while the questions are read is read again as a change. */
  async #begin(): Promise<Told> {
    const { log, runIndex, capacity } = this.#ports;
    const position = await log.end();
    this.#runs.clear();
    this.#entries.clear();
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
    return { isAfresh: true };
  }

  async #seed({ workflowId: _, ...asked }: InterruptRecord & { readonly workflowId: string }): Promise<void> {
    const entry = await entryOf(this.#ports, asked);
    if (entry === null) return;
    this.#entries.set(keyOf(asked), entry);
    const known = this.#runs.get(asked.runId) ?? this.#empty(asked.runId);
    this.#runs.set(asked.runId, { ...known, open: new Map(known.open).set(asked.interruptId, asked) });
  }

  /** The same fold that the index of the store is made by. */
  async #take(row: Row): Promise<readonly InboxChange[]> {
    const { runId, type, seq } = row;
    const before = this.#runs.get(runId) ?? (type === 'interrupt.requested' ? this.#empty(runId) : null);
    if (before === null) return [];
    const after = foldRunIndex(before, { ...row, nodeId: row.nodeId ?? undefined }, seq);
    const noted = new Map<string, InterruptRecord>();
    noteInterrupts(noted, before, after);
    const changes: InboxChange[] = [];
    for (const asked of noted.values()) changes.push(...(asked.open ? await this.#put(asked) : this.#drop(asked, row)));
    if (after.open.size === 0) this.#runs.delete(runId);
    else this.#runs.set(runId, after);
    return changes;
  }

  async #put(asked: InterruptRecord): Promise<readonly InboxChange[]> {
    const key = keyOf(asked);
    const isKnown = this.#entries.has(key);
    if (!isKnown && this.#entries.size >= this.#ports.capacity) {
      this.#isComplete = false;
      return [];
    }
    const entry = await entryOf(this.#ports, asked);
    if (entry === null) return [];
    this.#entries.set(key, entry);
    return [{ type: isKnown ? 'changed' : 'added', entry }];
  }

  #drop(asked: InterruptRecord, row: Row): readonly InboxChange[] {
    if (!this.#entries.delete(keyOf(asked))) return [];
    const { runId, interruptId } = asked;
    return [{ type: 'removed', runId, interruptId, end: endBy(row) }];
  }

  #empty(runId: RunId): IndexedRun {
    // Only what is open is read of it.
    return newRunIndex(runId, { tenant: this.#tenant, contextId: contextId(''), originRunId: runId }, 0);
  }
}

/** How the row that closes a question ends it. */
function endBy(row: Row): 'resolved' | 'expired' | 'cancelled' {
  const event = foldEventOf(row);
  if (event.type !== 'interrupt.resolved') return 'cancelled';
  return event.payload.reason === 'timeout' ? 'expired' : 'resolved';
}
