/**
 * Pages of rows, questions about contexts and bodies of blobs, a few at a time: what else a node asks never waits for a
 * connection behind a flood of them. Tenants take turns, then their runs, contexts and blobs. Runs and contexts whose tenant
 * is not known take turns together.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { RoundRobin } from '../../round-robin.ts';
import type { Database, Queries } from './database.ts';
import type { KnownTenants } from './known-tenants.ts';

export interface ReadersOptions {
  /** Statements at a time. */
  readonly most: number;
  readonly database: Pick<Database, 'of'>;
  readonly tenants: KnownTenants;
}

/** What a statement is about. */
interface Subject {
  /** If it is known. */
  readonly tenant: string | undefined;
  readonly id: string;
}

export class Readers {
  readonly tenants: KnownTenants;
  readonly #database: Pick<Database, 'of'>;
  readonly #waiting = new RoundRobin<() => void>();
  #free: number;

  constructor({ most, database, tenants }: ReadersOptions) {
    this.tenants = tenants;
    this.#database = database;
    this.#free = most;
  }

  /** Statements about this run or context. */
  of(id: RunId | ContextId): Queries {
    return this.#queriesOf(() => ({ tenant: this.tenants.of(id), id }));
  }

  /** Statements about this blob of a tenant. */
  ofBlob(tenant: string, sha256: string): Queries {
    return this.#queriesOf(() => ({ tenant, id: sha256 }));
  }

  #queriesOf(subject: () => Subject): Queries {
    return {
      rows: (text, values) => this.#inTurn(subject(), (queries) => queries.rows(text, values)),
      changed: (text, values) => this.#inTurn(subject(), (queries) => queries.changed(text, values)),
    };
  }

  async #inTurn<Result>({ tenant, id }: Subject, work: (queries: Queries) => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.add([tenant, id], begin));
    try {
      return await work(this.#database.of(tenant));
    } finally {
      const next = this.#waiting.next();
      if (next === null) this.#free += 1;
      else next();
    }
  }
}
