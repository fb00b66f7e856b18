/** A store: all ports over one database. */
import type { RunId } from '@cairn/protocol';
import type { Checkpoint } from './checkpoints.ts';
import type { WorkflowRecord } from './definitions.ts';
import type { EventLog } from './event-log.ts';
import type { IdempotencyClaim, IdempotencyRecord } from './idempotency.ts';
import type { Remembered } from './memories.ts';
import type { PackRecord } from './packs.ts';
import type { Queue } from './queue.ts';
import type { SubscriptionRecord } from './subscriptions.ts';

/** Records beside the log: content-addressed definitions, workflow names, checkpoints of folded state, idempotency, memories. */
export interface Records extends Remembered {
  /** Idempotent: the hash is of the body. */
  putDefinition(hash: string, body: string): Promise<void>;
  definition(hash: string): Promise<string | null>;
  /** Name a definition. `conflict` when the version exists with another hash. */
  putWorkflow(record: WorkflowRecord): Promise<void>;
  /** One version, or without one the version registered last. */
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowRecord | null>;
  /** The version registered last of each workflow, by id. */
  workflows(tenant: string): Promise<readonly WorkflowRecord[]>;
  /** Keeps only the newest of a run. */
  putCheckpoint(checkpoint: Checkpoint): Promise<void>;
  checkpoint(runId: RunId): Promise<Checkpoint | null>;
  /** Where a reader of the whole log had got to; null when it never said. */
  mark(reader: string): Promise<string | null>;
  putMark(reader: string, position: string): Promise<void>;
  /** `conflict` when the id is taken. */
  putSubscription(record: SubscriptionRecord): Promise<void>;
  /** All of this kind, in the order they were put. */
  subscriptions(kind: string): Promise<readonly SubscriptionRecord[]>;
  /** Nothing when the subscription is gone meanwhile. */
  saveSubscriptionState(id: string, state: string): Promise<void>;
  /** Whether it was there. */
  dropSubscription(tenant: string, id: string): Promise<boolean>;
  /** Install a pack, in the place of its other versions. `conflict` when the version was ever there with another hash. */
  putPack(record: PackRecord): Promise<void>;
  /** The version installed last of each pack that was not removed, by name. */
  packs(tenant: string): Promise<readonly PackRecord[]>;
  /** Remove a pack, in all versions; whether it was there. */
  dropPack(tenant: string, name: string): Promise<boolean>;
  idempotency(tenant: string, endpoint: string, key: string): Promise<IdempotencyRecord | null>;
  /** Take a request in hand: null when it is the caller's now, else the record that stands in the way. */
  claimIdempotency(claim: IdempotencyClaim): Promise<IdempotencyRecord | null>;
  /** Keep an outcome: the owner's own if it still has the request in hand, or without an owner if none stands. Else nothing. */
  settleIdempotency(record: IdempotencyRecord, owner: string | null): Promise<void>;
  /** Forget a request the owner has in hand, as if it had never been sent. */
  dropIdempotency(claim: IdempotencyClaim): Promise<void>;
  /** Forget idempotency records written before this instant. */
  expireIdempotency(before: number): Promise<number>;
}

export interface Store {
  readonly log: EventLog;
  readonly queue: Queue;
  readonly records: Records;
  /** Waits for appends that were accepted, then lets go of every resource. */
  close(): Promise<void>;
}
