/** Compares the stated confidence of agents with human verdicts on their decisions, as a fold over rows. */
import type { AgentCalibration, Json, JsonObject } from '@cairn/protocol';

/** The rows that the fold reads. A run that ends drops its pending decisions. */
export const calibrationTypes = [
  'agent.decided',
  'interrupt.requested',
  'interrupt.resolved',
  'run.failed',
  'run.cancelled',
] as const;

export interface CalibrationRow {
  readonly runId: string;
  readonly type: string;
  readonly payload: JsonObject;
}

interface Tally {
  stated: number;
  held: number;
  approved: number;
  edited: number;
  rejected: number;
  expired: number;
}

type Verdict = 'approved' | 'edited' | 'rejected' | 'expired';

const BUCKETS = 10;

/**
 * Takes rows of one tenant, in order for each run. Memory grows with agents and pending decisions, not with the log.
 */
export class CalibrationFold {
  readonly #agents = new Map<string, (Tally | undefined)[]>();
  /** Decisions that wait for human review, by run and interrupt. */
  readonly #held = new Map<string, Map<string, Tally>>();

  take({ runId, type, payload }: CalibrationRow): void {
    switch (type) {
      case 'agent.decided': {
        const tally = this.#tallyOf(payload.agentId, payload.confidence);
        if (tally !== null) tally.stated += 1;
        break;
      }
      case 'interrupt.requested':
        if (payload.kind === 'low-confidence') this.#hold(runId, payload);
        break;
      case 'interrupt.resolved':
        this.#release(runId, payload);
        break;
      default:
        this.#held.delete(runId);
    }
  }

  /** Sorted by agentId; empty buckets are left out. */
  agents(): AgentCalibration[] {
    const ids = [...this.#agents.keys()].sort();
    return ids.map((agentId) => {
      const tallies = this.#agents.get(agentId) as (Tally | undefined)[];
      const buckets = tallies.flatMap((tally, i) =>
        tally === undefined ? [] : [{ from: i / BUCKETS, to: (i + 1) / BUCKETS, ...tally }],
      );
      return { agentId, ...sum(buckets), buckets };
    });
  }

  #hold(runId: string, { interruptId, data }: JsonObject): void {
    const { agentId, observed } = (data ?? {}) as JsonObject;
    const tally = this.#tallyOf(agentId, observed);
    if (tally === null || typeof interruptId !== 'string') return;
    tally.held += 1;
    const held = this.#held.get(runId) ?? new Map<string, Tally>();
    held.set(interruptId, tally);
    this.#held.set(runId, held);
  }

  #release(runId: string, payload: JsonObject): void {
    const held = this.#held.get(runId);
    const tally = held?.get(String(payload.interruptId));
    if (held === undefined || tally === undefined) return;
    tally[verdictOf(payload)] += 1;
    held.delete(String(payload.interruptId));
    if (held.size === 0) this.#held.delete(runId);
  }

  #tallyOf(agentId: Json | undefined, confidence: Json | undefined): Tally | null {
    if (typeof agentId !== 'string' || typeof confidence !== 'number') return null;
    if (!(confidence >= 0 && confidence <= 1)) return null;
    const tallies = this.#agents.get(agentId) ?? new Array<Tally | undefined>(BUCKETS).fill(undefined);
    this.#agents.set(agentId, tallies);
    const place = Math.min(BUCKETS - 1, Math.floor(confidence * BUCKETS));
    const tally = tallies[place] ?? { stated: 0, held: 0, approved: 0, edited: 0, rejected: 0, expired: 0 };
    tallies[place] = tally;
    return tally;
  }
}

/** An answer without an action replaces the decision, so it counts as edited. */
function verdictOf({ reason, resumeValue }: JsonObject): Verdict {
  if (reason === 'timeout') return 'expired';
  const action = (resumeValue as { readonly action?: Json } | null | undefined)?.action;
  if (action === 'approve') return 'approved';
  return action === 'reject' ? 'rejected' : 'edited';
}

function sum(tallies: readonly Tally[]): Tally {
  const total: Tally = { stated: 0, held: 0, approved: 0, edited: 0, rejected: 0, expired: 0 };
  for (const tally of tallies) for (const name of Object.keys(total) as (keyof Tally)[]) total[name] += tally[name];
  return total;
}
