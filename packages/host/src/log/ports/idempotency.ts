/** A request that must not be carried out twice, as a store keeps it, and who may take it in hand: pure, so that every store agrees. */

/** Pending while somebody carries it out; the two failures differ in whether the same request may be carried out again. */
export type IdempotencyState = 'pending' | 'completed' | 'retryable-failure' | 'terminal-failure';

export interface IdempotencyRecord {
  readonly tenant: string;
  /** The routed operation, e.g. `POST /v1/runs`. */
  readonly endpoint: string;
  readonly key: string;
  readonly requestDigest: string;
  readonly state: IdempotencyState;
  /** Of a pending one: who carries it out, and until when it is theirs alone. */
  readonly owner: string | null;
  readonly until: number | null;
  /** The answer; empty while there is none. Headers are JSON of names and values. */
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  readonly at: number;
}

/** The record of a request that somebody takes in hand. */
export interface IdempotencyClaim {
  readonly tenant: string;
  readonly endpoint: string;
  readonly key: string;
  readonly requestDigest: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

export const pendingRecord = (claim: IdempotencyClaim): IdempotencyRecord => ({
  tenant: claim.tenant,
  endpoint: claim.endpoint,
  key: claim.key,
  requestDigest: claim.requestDigest,
  state: 'pending',
  owner: claim.owner,
  until: claim.until,
  status: 0,
  headers: '{}',
  body: '',
  at: claim.now,
});

/** Whether a claim gets the request although a record stands: it may run again, or whoever had it let its time pass. */
export function mayTake(standing: IdempotencyRecord, claim: IdempotencyClaim): boolean {
  if (standing.requestDigest !== claim.requestDigest) return false;
  if (standing.state === 'retryable-failure') return true;
  return standing.state === 'pending' && (standing.until ?? 0) <= claim.now;
}

/** Whether an outcome may be written over the record that stands: only by whoever still has the request in hand. */
export const maySettle = (standing: IdempotencyRecord | null, owner: string | null): boolean =>
  standing === null ? owner === null : standing.state === 'pending' && standing.owner === owner;

/** The outcome of a request, and who has it in hand; null when nobody took it, because whatever comes second is refused. */
export interface Settlement {
  readonly record: IdempotencyRecord;
  readonly owner: string | null;
}
