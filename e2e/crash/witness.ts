/** What a client was told, kept outside the host: whatever was acknowledged must be found again after every crash. */
import type { Json } from '@cairn/protocol';
import type { Breach, Complain } from './breach.ts';

/** An answer this client sent. */
export interface WitnessedAnswer {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly value: Json;
  /** The host said 200 to it. */
  acknowledged: boolean;
  /** How often it was sent again because no answer came back. */
  resent: number;
}

/** One run, as its client saw it. */
export interface WitnessedRun {
  readonly idempotencyKey: string;
  readonly workflowId: string;
  /** Known from the first 201. */
  runId: string | null;
  /** Event documents as they came over the wire, by sequence. */
  readonly events: string[];
  readonly answers: WitnessedAnswer[];
  /** What the host said to a request to cancel. */
  cancelled: string | null;
  /** The type of the terminal event. */
  ended: string | null;
  /** Streams that were taken up again with Last-Event-ID. */
  resumed: number;
}

export class Witness {
  readonly runs: WitnessedRun[] = [];
  readonly breaches: Breach[] = [];
  /** Events seen so far; what a killer waits for. */
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
