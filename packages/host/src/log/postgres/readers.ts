/**
 * Pages of rows, questions about contexts and bodies of blobs, a few at a time: what else a node asks never waits for a
 * connection behind a flood of them. Tenants take turns, then their runs, contexts and blobs. Runs and contexts whose tenant
 * is not known take turns together.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { RoundRobin } from '../../round-robin.ts';
import type { Queries } from './database.ts';
import type { KnownTenants } from './known-tenants.ts';

export interface ReadersOptions {
  /** Statements at a time. */
  readonly most: number;
  readonly queries: Queries;
  readonly tenants: KnownTenants;
}

export class Readers {
  readonly tenants: KnownTenants;
  readonly #queries: Queries;
  readonly #waiting = new RoundRobin<() => void>();
  #free: number;

  constructor({ most, queries, tenants }: ReadersOptions) {
    this.tenants = tenants;
    this.#queries = queries;
    this.#free = most;
  }

  /** Statements about this run or context. */
  of(id: RunId | ContextId): Queries {
    return this.#queriesOf(() => [this.tenants.of(id), id]);
  }

  /** Statements about this blob of a tenant. */
  ofBlob(tenant: string, sha256: string): Queries {
    return this.#queriesOf(() => [tenant, sha256]);
  }

  #queriesOf(path: () => readonly unknown[]): Queries {
    return {
      rows: (text, values) => this.#inTurn(path, () => this.#queries.rows(text, values)),
      changed: (text, values) => this.#inTurn(path, () => this.#queries.changed(text, values)),
    };
  }

  async #inTurn<Result>(path: () => readonly unknown[], work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.add(path(), begin));
    try {
      return await work();
    } finally {
      const next = this.#waiting.next();
      if (next === null) this.#free += 1;
      else next();
    }
  }
}
