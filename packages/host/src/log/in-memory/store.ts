/** A store that lives in memory: for tests, for the simulation, and as the plainest reading of what a store must do. */
import type { ListenerFault } from '../feed/followers.ts';
import type { Store } from '../ports/store.ts';
import { inMemoryCheckpoints } from './checkpoints.ts';
import { inMemoryDefinitions } from './definitions.ts';
import { inMemoryEventLog } from './event-log.ts';
import { inMemoryIdempotency } from './idempotency.ts';
import { inMemoryMemories } from './memories.ts';
import { inMemoryPacks } from './packs.ts';
import { inMemoryQueue } from './queue.ts';
import { inMemoryRunIndex } from './run-index.ts';
import { inMemorySubscriptions } from './subscriptions.ts';
import { Tables } from './tables.ts';

export interface InMemoryStoreOptions {
  /** Told when a listener of `follow` throws. Default: the error surfaces as an uncaught one. */
  readonly onFault?: ListenerFault;
}

/** An empty store. What it acknowledged lasts as long as the process. */
export function inMemoryStore({ onFault }: InMemoryStoreOptions = {}): Store {
  const tables = new Tables();
  return {
    log: inMemoryEventLog(tables, onFault),
    runIndex: inMemoryRunIndex(tables),
    queue: inMemoryQueue(tables),
    definitions: inMemoryDefinitions(tables),
    checkpoints: inMemoryCheckpoints(tables),
    idempotency: inMemoryIdempotency(tables),
    memories: inMemoryMemories(tables),
    packs: inMemoryPacks(tables),
    subscriptions: inMemorySubscriptions(tables),
    close: async () => tables.close(),
  };
}
