/** The connections of a store: queries whose rows are arrays, transactions, and errors that name the database. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { storeClosed } from '../errors.ts';
import { Connections, type Send } from './connections.ts';
import { dialing } from './dial.ts';
import { isDisconnected, isTransient, placeOf, storeError } from './errors.ts';
import { decodeText, encodeText } from './text-codec.ts';
import { transact } from './transactions.ts';

export type Value = string | number | boolean | null | Uint8Array;

export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Runs statements: on any connection, or on that of a transaction. */
export interface Queries {
  /** Rows as arrays of the columns that the caller declares: the only place where the store trusts a statement. */
  rows<Columns extends readonly unknown[]>(text: string, values?: readonly Value[]): Promise<Columns[]>;
  /** Rows that a statement changed. */
  changed(text: string, values?: readonly Value[]): Promise<number>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Most connections at a time. Default: 10. */
  readonly connections?: number | undefined;
  /** How long a statement may take. Default: as long as it likes. */
  readonly deadlineMs?: number | undefined;
}

/** Most transactions at a time, each on a connection of its own beside the others. */
const TRANSACTIONS = 4;

/**
 * Who waits for connections beside tenants, in names that no tenant has: tenants that are not known, the store itself, and
 * accepted work, so that no commit waits behind leases or lookups.
 */
const UNKNOWN = '';
const ITSELF = '\0';
const ACCEPTED = '\0accepted';

/** How long the end of listening waits for the server. */
const UNLISTEN_MS = 1_000;

/** How often a transaction is tried that met another one in the wrong order, or ran into one. */
const ATTEMPTS = 10;

/** Integers are safe in JavaScript: positions, instants and counts. */
const int8 = { to: 20, from: [20], parse: Number, serialize: String };
const text = { to: 25, from: [25], parse: decodeText, serialize: (value: unknown) => encodeText(String(value)) };

/** Connections to one database. They open when they are needed. */
export interface Pool {
  readonly statements: Connections;
  readonly transactions: Connections;
  /** Calls back for every notification on the channel. Needs a session: a transaction pooler has none. */
  listen(channel: string, heard: (payload: string) => void, joined: () => void): Promise<() => Promise<void>>;
  readonly place: string;
  /** Waits for statements under way, at most so many seconds. Default: 5. */
  end(timeoutS?: number): Promise<void>;
}

export function connect({ url, connections = 10, deadlineMs }: DatabaseOptions): Pool {
  const parsed = new URL(url);
  const place = placeOf(parsed);
  const prepare = parsed.searchParams.get('prepare') !== 'false';
  parsed.searchParams.delete('prepare');
  const { href } = parsed;
  const options = {
    prepare,
    types: { int8, text },
    fetch_types: false,
    connect_timeout: 10,
    onnotice: () => {},
    // The only parameter of a session: a pooler refuses most others.
    connection: { application_name: 'cairn' },
  };
  const own = { href, options, deadlineMs: deadlineMs ?? null };
  const statements = new Connections({ ...own, most: connections });
  const transactions = new Connections({ ...own, most: Math.min(TRANSACTIONS, connections) });
  let listening: Sql | null = null;
  let listener: Socket | null = null;
  return {
    statements,
    transactions,
    place,
    listen: async (channel, heard, joined) => {
      // The driver opens a connection of its own for it, and listens again after a loss.
      const socket = dialing((opened) => {
        listener = opened;
      });
      listening ??= postgres(href, { ...options, ...{ socket }, max: 1 });
      const { unlisten } = await listening.listen(channel, heard, joined);
      // Who listens no more does not wait for a server that is silent.
      return () => Promise.race([unlisten(), delay(UNLISTEN_MS, undefined, { ref: false })]);
    },
    end: async (timeoutS = 5) => {
      await Promise.all([statements.end(timeoutS), transactions.end(timeoutS), listening?.end({ timeout: timeoutS })]);
      listener?.destroy();
    },
  };
}

export class Database implements Queries {
  readonly place: string;
  /** Statements of work that was accepted before the store was closed. Errors are as the driver throws them. */
  readonly accepted: Queries;
  /** The same, with a statement that is sent right behind the first one, and may fail. */
  readonly acceptedPair: <Columns extends readonly unknown[]>(
    first: Statement,
    behind: Statement,
  ) => Promise<Columns[]>;
  readonly #pool: Pool;
  #isClosed = false;

  /** `pool` has its own end, so that several stores can share it. */
  constructor(pool: Pool) {
    this.#pool = pool;
    this.place = pool.place;
    this.accepted = sentBy((statement) => pool.statements.use((send) => send(statement), ACCEPTED));
    this.acceptedPair = <Columns extends readonly unknown[]>(first: Statement, behind: Statement) =>
      pool.statements.pair(
        (sql) => rowsOf<Columns>(sql, first.text, first.values),
        (sql) => rowsOf(sql, behind.text, behind.values),
        ACCEPTED,
      );
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async rows<Columns extends readonly unknown[]>(text: string, values: readonly Value[] = []): Promise<Columns[]> {
    return this.of(ITSELF).rows<Columns>(text, values);
  }

  async changed(text: string, values: readonly Value[] = []): Promise<number> {
    return this.of(ITSELF).changed(text, values);
  }

  /** Statements for a tenant, which wait behind those of the same tenant alone. Those of unknown tenants wait together. */
  of(tenant = UNKNOWN): Queries {
    const queries = sentBy((statement) => this.#pool.statements.use((send) => send(statement), tenant));
    return {
      rows: (text, values) => this.#run(() => queries.rows(text, values)),
      changed: (text, values) => this.#run(() => queries.changed(text, values)),
    };
  }

  /** Repeats the work when another transaction stood in its way: it must change nothing but the database. */
  async transaction<Result>(work: (queries: Queries) => Promise<Result>, attempts = ATTEMPTS): Promise<Result> {
    return this.#run(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await transact(this.#pool.transactions, (send) => work(sentBy(send)));
        } catch (error) {
          if (attempt >= attempts || !isTransient(error)) throw error;
        }
      }
    });
  }

  listen(channel: string, heard: (payload: string) => void, joined: () => void): Promise<() => Promise<void>> {
    return this.#pool.listen(channel, heard, joined);
  }

  /** Queries are refused from now on, except those of work that was accepted before. */
  close(): void {
    this.#isClosed = true;
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw storeClosed();
    try {
      return await work();
    } catch (error) {
      if (this.#isClosed && isDisconnected(error)) throw storeClosed();
      throw storeError(error, this.place);
    }
  }
}

const sentBy = (send: Send): Queries => ({
  rows: (text, values = []) => send((sql) => rowsOf(sql, text, values)),
  changed: (text, values = []) => send((sql) => changedBy(sql, text, values)),
});

async function rowsOf<Columns extends readonly unknown[]>(
  sql: Sql,
  text: string,
  values: readonly Value[],
): Promise<Columns[]> {
  const query = sql.unsafe(text, [...values], { prepare: true }).values();
  const found: unknown[] = await lettingGo(query);
  return found.splice(0) as Columns[];
}

async function changedBy(sql: Sql, text: string, values: readonly Value[]): Promise<number> {
  const query = sql.unsafe(text, [...values], { prepare: true });
  const done = await lettingGo(query);
  return done.count;
}

/**
 * A query of the driver stays until the next full collection, with its parameters and its result: all rows that a node
 * wrote or read went to the old space. One that is over lets go of its parameters, and its rows are taken out of the result.
 */
async function lettingGo<Result>(query: PromiseLike<Result>): Promise<Result> {
  const result = await query;
  Object.assign(query, { args: [], parameters: [] });
  return result;
}
