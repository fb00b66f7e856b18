/** Idempotency records: a request under an idempotency key is carried out once, and its response is replayed. */

/** Pending while somebody carries it out. After a retryable failure the same request may be carried out again. */
export type IdempotencyState = 'pending' | 'completed' | 'retryable-failure' | 'terminal-failure';

export interface IdempotencyKey {
  readonly tenant: string;
  /** The routed operation, e.g. `POST /v1/runs`. */
  readonly endpoint: string;
  readonly key: string;
}

export interface IdempotencyRecord extends IdempotencyKey {
  readonly requestDigest: string;
  readonly state: IdempotencyState;
  /** Of a pending record: who carries the request out, and until when it is theirs alone. */
  readonly owner: string | null;
  readonly until: number | null;
  /** The response to replay; empty while pending. Headers are JSON of names and values. */
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  readonly at: number;
}

/** A request that somebody wants to carry out. */
export interface IdempotencyClaim extends IdempotencyKey {
  readonly requestDigest: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** The key of a request that is carried out, and the owner of its claim; null when nobody claimed the key. */
export interface RequestKey extends IdempotencyKey {
  readonly requestDigest: string;
  readonly owner: string | null;
}

/** A record to save, and the owner of the claim; null when nobody claimed the key, so that the first record wins. */
export interface IdempotencyWrite {
  readonly record: IdempotencyRecord;
  readonly owner: string | null;
}

export interface IdempotencyRecords {
  get(key: IdempotencyKey): Promise<IdempotencyRecord | null>;
  /** Null when the request is the caller's now, else the record that exists. */
  claim(claim: IdempotencyClaim): Promise<IdempotencyRecord | null>;
  /** Does nothing when the owner lost its claim, or without an owner when a record exists. */
  save(write: IdempotencyWrite): Promise<void>;
  /** Deletes the owner's pending record, as if the request had never been sent. */
  drop(claim: IdempotencyClaim): Promise<void>;
  /** Deletes records written before this instant and returns their number. */
  expire(before: number): Promise<number>;
}

/** Pure, like the two rules below, so that every store agrees. */
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

/** The record of a request that was carried out, for the owner of its claim to save. */
export const responseRecord = (
  { tenant, endpoint, key, requestDigest, owner }: RequestKey,
  response: Pick<IdempotencyRecord, 'state' | 'status' | 'headers' | 'body' | 'at'>,
): IdempotencyWrite => ({
  owner,
  record: { tenant, endpoint, key, requestDigest, owner: null, until: null, ...response },
});

/** Whether a claim replaces the record that exists: the request may run again, or its owner's time has passed. */
export function mayClaim(existing: IdempotencyRecord, claim: IdempotencyClaim): boolean {
  if (existing.requestDigest !== claim.requestDigest) return false;
  if (existing.state === 'retryable-failure') return true;
  return existing.state === 'pending' && (existing.until ?? 0) <= claim.now;
}

/** Whether a record may be saved: only by the owner of the pending record, or without an owner when none exists. */
export const maySave = (existing: IdempotencyRecord | null, owner: string | null): boolean =>
  existing === null ? owner === null : existing.state === 'pending' && existing.owner === owner;
