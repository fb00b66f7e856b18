/** Records outside the host what clients were told. Everything acknowledged must still be there after every crash. */
import type { Json } from '@cairn/protocol';
import type { Breach, Complain } from './breach.ts';

/** An answer this client sent. */
export interface WitnessedAnswer {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly value: Json;
  /** The host returned 200. */
  acknowledged: boolean;
  /** Number of resends because no response arrived. */
  resent: number;
}

/** One run, as its client saw it. */
export interface WitnessedRun {
  readonly idempotencyKey: string;
  readonly workflowId: string;
  /** Set by the first 201 response. */
  runId: string | null;
  /** Event documents as received over the wire, by sequence. */
  readonly events: string[];
  readonly answers: WitnessedAnswer[];
  /** The host's response to a cancel request. */
  cancelled: string | null;
  /** The type of the terminal event. */
  ended: string | null;
  /** Streams resumed with Last-Event-ID. */
  resumed: number;
}

export class Witness {
  readonly runs: WitnessedRun[] = [];
  readonly breaches: Breach[] = [];
  /** Events seen so far. The killer waits on this count. */
  events = 0;

  readonly complain: Complain = (promise, facts) => {
    this.breaches.push({ promise, facts });
  };

  open(idempotencyKey: string, workflowId: string): WitnessedRun {
    const run: WitnessedRun = {
      idempotencyKey,
      workflowId,
      runId: null,
      events: [],
      answers: [],
      cancelled: null,
      ended: null,
      resumed: 0,
    };
    this.runs.push(run);
    return run;
  }
}
