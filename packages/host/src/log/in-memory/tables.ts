/** What the ports of the in-memory store share: runs with their rows, sessions, and the records that appends write. */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import type { FullHead } from '../admit.ts';
import { storeClosed } from '../errors.ts';
import type { IdempotencyKey, IdempotencyRecord } from '../ports/idempotency.ts';
import type { Row } from '../ports/rows.ts';
import type { InterruptRecord } from '../ports/run-index.ts';
import { MemoryTable } from './memory-table.ts';

/** One run with everything that belongs to it. */
export interface StoredRun {
  /** Counts runs in the order of their creation, from 1. */
  readonly place: number;
  head: FullHead;
  readonly rows: Row[];
  readonly interrupts: Map<string, InterruptRecord>;
}

export class Tables {
  readonly contexts = new Map<ContextId, Row[]>();
  /** Rows of all runs that were written here, in cursor order. */
  readonly rows: Row[] = [];
  /** When the session of each owner ends. */
  readonly sessions = new Map<string, number>();
  /** Every interrupt of the runs written here, in the order in which they were requested. */
  readonly interrupts: Pick<InterruptRecord, 'runId' | 'interruptId'>[] = [];
  readonly idempotency = new Map<string, IdempotencyRecord>();
  readonly memories: MemoryTable;
  /** The last cursor that was given out. */
  cursor = 0;
  readonly #runs = new Map<RunId, StoredRun>();
  #isClosed = false;

  constructor() {
    this.memories = new MemoryTable(this.#runs);
  }

  /** By id, in the order of their creation. Throws once the store is closed. */
  runs(): Map<RunId, StoredRun> {
    this.assertOpen();
    return this.#runs;
  }

  run(runId: RunId): StoredRun {
    const run = this.#runs.get(runId);
    invariant(run !== undefined, 'row-has-run', { runId });
    return run;
  }

  assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  close(): void {
    this.#isClosed = true;
  }

  isAlive(owner: string, now: number): boolean {
    return (this.sessions.get(owner) ?? 0) > now;
  }

  /** Never earlier than it was. */
  extendSession(owner: string, until: number): void {
    this.sessions.set(owner, Math.max(until, this.sessions.get(owner) ?? 0));
  }
}

/** One text for the three parts, which may hold any character. */
export const idempotencyId = ({ tenant, endpoint, key }: IdempotencyKey): string =>
  JSON.stringify([tenant, endpoint, key]);
