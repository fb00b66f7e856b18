/**
 * The pending rows of one subscription, queued by run. Only the first row of a run may be in flight, which preserves
 * order.
 */
import type { RunId } from '@cairn/protocol';
import type { PendingRow } from './delivery-state.ts';

export interface Lane {
  readonly runId: RunId;
  /** In run order; the first is delivered next. */
  readonly seqs: number[];
  /** Failed attempts at the first row. */
  attempts: number;
}

export class Lanes {
  readonly #lanes = new Map<RunId, Lane>();
  /** Lanes whose first row may be sent now, in the order they became ready. */
  readonly #ready: Lane[] = [];
  #size = 0;

  constructor(pending: readonly PendingRow[]) {
    for (const row of pending) this.add(row);
  }

  /** Undelivered rows, including those in flight. */
  get size(): number {
    return this.#size;
  }

  get pending(): readonly PendingRow[] {
    return [...this.#lanes.values()].flatMap(({ runId, seqs }) => seqs.map((seq) => ({ runId, seq })));
  }

  add({ runId, seq }: PendingRow): void {
    this.#size += 1;
    const lane = this.#lanes.get(runId);
    if (lane !== undefined) {
      lane.seqs.push(seq);
      return;
    }
    const fresh: Lane = { runId, seqs: [seq], attempts: 0 };
    this.#lanes.set(runId, fresh);
    this.#ready.push(fresh);
  }

  /** Takes the next ready lane. `done` or `again` returns it. */
  take(): Lane | undefined {
    return this.#ready.shift();
  }

  /** The first row is delivered, skipped or abandoned. */
  done(lane: Lane): void {
    lane.seqs.shift();
    lane.attempts = 0;
    this.#size -= 1;
    if (lane.seqs.length === 0) this.#lanes.delete(lane.runId);
    else this.#ready.push(lane);
  }

  /** The first row is ready for another attempt. */
  again(lane: Lane): void {
    this.#ready.push(lane);
  }
}
