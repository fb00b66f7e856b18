/** An in-memory store, for tests and the simulation. It is also the simplest reference implementation of a store. */
import type { ListenerFault } from '../feed/followers.ts';
import { inProcessCluster } from '../in-process-cluster.ts';
import type { Store } from '../ports/store.ts';
import { inMemoryArtifacts } from './artifacts.ts';
import { inMemoryBlobs } from './blobs.ts';
import { inMemoryChanges } from './changes.ts';
import { inMemoryCheckpoints } from './checkpoints.ts';
import { inMemoryContexts } from './contexts.ts';
import { inMemoryCredentials } from './credentials.ts';
import { inMemoryDefinitions } from './definitions.ts';
import { inMemoryEventLog } from './event-log.ts';
import { inMemoryExpiring } from './expiring.ts';
import { inMemoryIdempotency } from './idempotency.ts';
import { inMemoryMemories } from './memories.ts';
import { inMemoryPacks } from './packs.ts';
import { inMemoryPurges } from './purges.ts';
import { inMemoryQueue } from './queue.ts';
import { inMemoryRetention } from './retention.ts';
import { inMemoryRunIndex } from './run-index.ts';
import { inMemorySubscriptions } from './subscriptions.ts';
import { Tables } from './tables.ts';

export interface InMemoryStoreOptions {
  /** Called when a listener of `follow` throws. By default the error surfaces as an uncaught exception. */
  readonly onFault?: ListenerFault;
}

/** Opens an empty store. Its data lasts as long as the process. */
export function inMemoryStore({ onFault }: InMemoryStoreOptions = {}): Store {
  const tables = new Tables();
  return {
    log: inMemoryEventLog(tables, onFault),
    changes: inMemoryChanges(tables),
    runIndex: inMemoryRunIndex(tables),
    contexts: inMemoryContexts(tables),
    queue: inMemoryQueue(tables),
    definitions: inMemoryDefinitions(tables),
    checkpoints: inMemoryCheckpoints(tables),
    idempotency: inMemoryIdempotency(tables),
    memories: inMemoryMemories(tables),
    packs: inMemoryPacks(tables),
    subscriptions: inMemorySubscriptions(tables),
    credentials: inMemoryCredentials(tables),
    retention: inMemoryRetention(tables),
    purges: inMemoryPurges(tables),
    blobs: inMemoryBlobs(tables),
    artifacts: inMemoryArtifacts(tables),
    expiring: inMemoryExpiring(tables),
    cluster: inProcessCluster(() => tables.isClosed, onFault),
    close: async () => tables.close(),
  };
}
