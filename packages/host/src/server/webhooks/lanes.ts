/** The rows one subscription still has to tell, run by run: of one run only the first may be on its way, so that its order is kept. */
import type { RunId } from '@cairn/protocol';
import type { PendingRow } from './delivery-state.ts';

export interface Lane {
  readonly runId: RunId;
  /** In the order of the run; the first is the one to be told next. */
  readonly seqs: number[];
  /** Failed attempts at the first one. */
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

  /** Rows that are not told yet, those on their way included. */
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

  /** Takes a lane out of those that are ready; it comes back by `done` or `again`. */
  take(): Lane | undefined {
    return this.#ready.shift();
  }

  /** Its first row is told, or given up. */
  done(lane: Lane): void {
    lane.seqs.shift();
    lane.attempts = 0;
    this.#size -= 1;
    if (lane.seqs.length === 0) this.#lanes.delete(lane.runId);
    else this.#ready.push(lane);
  }

  /** Its first row may be tried again. */
  again(lane: Lane): void {
    this.#ready.push(lane);
  }
}
