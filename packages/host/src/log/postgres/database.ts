/** The connections of a store: queries whose rows are arrays, transactions, and errors that name the database. */
import postgres, { type Sql } from 'postgres';
import { storeClosed } from '../errors.ts';
import { isDisconnected, isTransient, placeOf, storeError } from './errors.ts';
import { decodeText, encodeText } from './text-codec.ts';
import { type Send, Transactions } from './transactions.ts';

export type Value = string | number | boolean | null | Uint8Array;

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
}

/** Most transactions at a time, each on a connection of its own beside the others. */
const TRANSACTIONS = 4;

/** How often a transaction is tried that met another one in the wrong order, or ran into one. */
const ATTEMPTS = 10;

/** Integers are safe in JavaScript: positions, instants and counts. */
const int8 = { to: 20, from: [20], parse: Number, serialize: String };
const text = { to: 25, from: [25], parse: decodeText, serialize: (value: unknown) => encodeText(String(value)) };

/** Connections to one database. They open when they are needed. */
export interface Pool {
  readonly sql: Sql;
  readonly transactions: Transactions;
  readonly place: string;
  /** Waits for statements under way, at most so many seconds. Default: 5. */
  end(timeoutS?: number): Promise<void>;
}

export function connect({ url, connections = 10 }: DatabaseOptions): Pool {
  const parsed = new URL(url);
  const place = placeOf(parsed);
  const prepare = parsed.searchParams.get('prepare') !== 'false';
  parsed.searchParams.delete('prepare');
  const open = (max: number, onclose?: () => void): Sql =>
    postgres(parsed.href, {
      max,
      ...(onclose !== undefined && { onclose }),
      prepare,
      types: { int8, text },
      fetch_types: false,
      connect_timeout: 10,
      idle_timeout: 60,
      onnotice: () => {},
      // The only parameter of a session: a pooler refuses most others.
      connection: { application_name: 'cairn' },
    });
  const sql = open(connections);
  const transactions = new Transactions((closed) => open(1, closed), Math.min(TRANSACTIONS, connections));
  const end = async (timeoutS = 5): Promise<void> => {
    await Promise.all([sql.end({ timeout: timeoutS }), transactions.end(timeoutS)]);
  };
  return { sql, transactions, place, end };
}

export class Database implements Queries {
  readonly place: string;
  readonly #sql: Sql;
  readonly #transactions: Transactions;
  #isClosed = false;

  /** `pool` has its own end, so that several stores can share it. */
  constructor({ sql, transactions, place }: Pool) {
    this.#sql = sql;
    this.#transactions = transactions;
    this.place = place;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async rows<Columns extends readonly unknown[]>(text: string, values: readonly Value[] = []): Promise<Columns[]> {
    return this.#run(() => rowsOf<Columns>(this.#sql, text, values));
  }

  async changed(text: string, values: readonly Value[] = []): Promise<number> {
    return this.#run(() => changedBy(this.#sql, text, values));
  }

  /** Statements of work that was accepted before the store was closed. Errors are as the driver throws them. */
  get accepted(): Queries {
    return onConnection(this.#sql);
  }

  /** Repeats the work when another transaction stood in its way: it must change nothing but the database. */
  async transaction<Result>(work: (queries: Queries) => Promise<Result>, attempts = ATTEMPTS): Promise<Result> {
    return this.#run(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#transactions.run((send) => work(inTransaction(send)));
        } catch (error) {
          if (attempt >= attempts || !isTransient(error)) throw error;
        }
      }
    });
  }

  /** Calls back for every notification on the channel. Needs a session: a transaction pooler has none. */
  async listen(channel: string, heard: (payload: string) => void, joined: () => void): Promise<() => Promise<void>> {
    const { unlisten } = await this.#sql.listen(channel, heard, joined);
    return unlisten;
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

const onConnection = (sql: Sql): Queries => ({
  rows: (text, values = []) => rowsOf(sql, text, values),
  changed: (text, values = []) => changedBy(sql, text, values),
});

const inTransaction = (send: Send): Queries => ({
  rows: (text, values = []) => send((sql) => rowsOf(sql, text, values)),
  changed: (text, values = []) => send((sql) => changedBy(sql, text, values)),
});

async function rowsOf<Columns extends readonly unknown[]>(
  sql: Sql,
  text: string,
  values: readonly Value[],
): Promise<Columns[]> {
  const found: readonly unknown[] = await sql.unsafe(text, [...values], { prepare: true }).values();
  return found as Columns[];
}

async function changedBy(sql: Sql, text: string, values: readonly Value[]): Promise<number> {
  const done = await sql.unsafe(text, [...values], { prepare: true });
  return done.count;
}
