/** Whose runs and contexts are, as far as this node was told lately: enough to take turns by, never to grant access. */
import type { ContextId, RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';

const CAPACITY = 10_000;

export class KnownTenants {
  readonly #tenants = new LruMap<RunId | ContextId, string>(CAPACITY);

  of(id: RunId | ContextId): string | undefined {
    return this.#tenants.get(id);
  }

  note(id: RunId | ContextId, tenant: string): void {
    this.#tenants.set(id, tenant);
  }
}
