/**
 * A store: all ports over one database.
 *
 * The ports are written for a shared Postgres with many nodes as much as for one SQLite file: nothing here assumes that
 * the caller is the only writer, and everything that must be true together is one `EventLog.append`.
 */
import type { Checkpoints } from './checkpoints.ts';
import type { Definitions } from './definitions.ts';
import type { EventLog } from './event-log.ts';
import type { IdempotencyRecords } from './idempotency.ts';
import type { Memories } from './memories.ts';
import type { Packs } from './packs.ts';
import type { Queue } from './queue.ts';
import type { RunIndex } from './run-index.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface Store {
  readonly log: EventLog;
  readonly runIndex: RunIndex;
  readonly queue: Queue;
  readonly definitions: Definitions;
  readonly checkpoints: Checkpoints;
  readonly idempotency: IdempotencyRecords;
  readonly memories: Memories;
  readonly packs: Packs;
  readonly subscriptions: Subscriptions;
  /** Waits for writes that were accepted, then releases every resource. */
  close(): Promise<void>;
}
