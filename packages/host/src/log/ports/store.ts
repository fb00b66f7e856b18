/**
 * A store: all ports over one database.
 *
 * The ports fit a Postgres shared by many nodes as well as one SQLite file. No port assumes that the caller is the only
 * writer. One `EventLog.append` commits everything that must be consistent.
 */
import type { Artifacts } from './artifacts.ts';
import type { Blobs } from './blobs.ts';
import type { ChangeLog } from './changes.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Cluster } from './cluster.ts';
import type { Contexts } from './contexts.ts';
import type { Credentials } from './credentials.ts';
import type { Definitions } from './definitions.ts';
import type { EventLog } from './event-log.ts';
import type { ExpiringRecords } from './expiring.ts';
import type { IdempotencyRecords } from './idempotency.ts';
import type { Memories } from './memories.ts';
import type { Packs } from './packs.ts';
import type { Purges } from './purges.ts';
import type { Queue } from './queue.ts';
import type { Retention } from './retention.ts';
import type { RunIndex } from './run-index.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface Store {
  readonly log: EventLog;
  readonly changes: ChangeLog;
  readonly runIndex: RunIndex;
  readonly contexts: Contexts;
  readonly queue: Queue;
  readonly definitions: Definitions;
  readonly checkpoints: Checkpoints;
  readonly idempotency: IdempotencyRecords;
  readonly memories: Memories;
  readonly packs: Packs;
  readonly subscriptions: Subscriptions;
  readonly credentials: Credentials;
  readonly retention: Retention;
  readonly purges: Purges;
  readonly blobs: Blobs;
  readonly artifacts: Artifacts;
  readonly expiring: ExpiringRecords;
  readonly cluster: Cluster;
  /** Waits for accepted writes, then releases every resource. */
  close(): Promise<void>;
}
