/**
 * Pages of rows, questions about contexts and bodies of blobs, a few at a time: what else a node asks never waits for a
 * connection behind a flood of them. Tenants take turns, then their runs, contexts and blobs; no tenant has all of the
 * places, so that its slow pages delay none of another. Runs and contexts whose tenant is not known take turns together.
 * A large page has its place until its reader gets it, in a turn of the event loop.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { RoundRobin } from '../../round-robin.ts';
import type { Database, Queries, Value } from './database.ts';
import type { KnownTenants } from './known-tenants.ts';
import { PageTurns } from './page-turns.ts';

export interface ReadersOptions {
  /** Statements of one tenant at a time. */
  readonly each: number;
  /** Statements of all tenants at a time. */
  readonly together: number;
  readonly database: Pick<Database, 'of'>;
  readonly tenants: KnownTenants;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (go: () => void) => void;
}

/** What a statement is about. */
interface Subject {
  /** If it is known. */
  readonly tenant: string | undefined;
  readonly id: string;
}

/** What a tenant asked. */
interface Asked {
  underWay: number;
  readonly waiting: RoundRobin<() => void>;
}

export class Readers {
  readonly tenants: KnownTenants;
  readonly #database: Pick<Database, 'of'>;
  readonly #each: number;
  readonly #together: number;
  readonly #pageTurns: PageTurns;
  #underWay = 0;
  /** Of each tenant with something under way or waiting. The first one is next. */
  readonly #asked = new Map<string | undefined, Asked>();

  constructor({ each, together, database, tenants, nextTurn }: ReadersOptions) {
    this.tenants = tenants;
    this.#pageTurns = new PageTurns(nextTurn);
    this.#database = database;
    this.#each = each;
    this.#together = together;
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
      rows: <Columns extends readonly unknown[]>(text: string, values?: readonly Value[]) => {
        const whose = subject();
        return this.#inTurn(whose, async (queries) =>
          this.#pageTurns.give(whose.tenant ?? '', await queries.rows<Columns>(text, values)),
        );
      },
      changed: (text, values) => this.#inTurn(subject(), (queries) => queries.changed(text, values)),
    };
  }

  async #inTurn<Result>({ tenant, id }: Subject, work: (queries: Queries) => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      const asked = this.#asked.get(tenant) ?? { underWay: 0, waiting: new RoundRobin() };
      if (asked.waiting.size === 0) this.#toTheEnd(tenant, asked);
      asked.waiting.add([id], begin);
      this.#beginNext();
    });
    try {
      return await work(this.#database.of(tenant));
    } finally {
      this.#end(tenant);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    for (const [tenant, asked] of this.#asked) {
      if (this.#underWay >= this.#together) return;
      const begin = asked.underWay < this.#each ? asked.waiting.next() : null;
      if (begin === null) continue;
      this.#underWay += 1;
      asked.underWay += 1;
      // The iteration comes to it again.
      this.#toTheEnd(tenant, asked);
      begin();
    }
  }

  #toTheEnd(tenant: string | undefined, asked: Asked): void {
    this.#asked.delete(tenant);
    this.#asked.set(tenant, asked);
  }

  #end(tenant: string | undefined): void {
    this.#underWay -= 1;
    const asked = this.#asked.get(tenant);
    if (asked === undefined) return;
    asked.underWay -= 1;
    if (asked.underWay === 0 && asked.waiting.size === 0) this.#asked.delete(tenant);
  }
}
