/**
 * Transactions, each on a connection that nothing else uses meanwhile. The driver's own transactions go on after their
 * connection is lost, which ends the process: it writes their rollback to a socket that is gone.
 */
import type { Sql } from 'postgres';

/** A connection that knows whether it was lost. It opens when it is needed, and again after a loss. */
export class TransactionConnection {
  readonly sql: Sql;
  isLost = false;

  constructor(open: (closed: () => void) => Sql) {
    this.sql = open(() => {
      this.isLost = true;
    });
  }
}

/** The code is that of the driver, so that the loss counts as one of the connection. */
const lost = (): Error =>
  Object.assign(new Error('the connection of the transaction was lost'), { code: 'CONNECTION_CLOSED' });

export class Transactions {
  readonly #open: () => TransactionConnection;
  readonly #all: TransactionConnection[] = [];
  readonly #most: number;
  readonly #free: TransactionConnection[] = [];
  readonly #waiting: ((connection: TransactionConnection) => void)[] = [];

  /** `most` is the number of transactions at a time; others wait. */
  constructor(open: (closed: () => void) => Sql, most: number) {
    this.#open = () => new TransactionConnection(open);
    this.#most = most;
  }

  /** Commits what the work did, or rolls it back if it throws. `work` sends its statements through `send`. */
  async run<Result>(work: (send: Send) => Promise<Result>): Promise<Result> {
    const connection = await this.#take();
    try {
      return await transact(connection, work);
    } finally {
      this.#giveBack(connection);
    }
  }

  async end(timeoutS: number): Promise<void> {
    await Promise.all(this.#all.map(({ sql }) => sql.end({ timeout: timeoutS })));
  }

  #take(): Promise<TransactionConnection> | TransactionConnection {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.length === this.#most) return new Promise((resolve) => this.#waiting.push(resolve));
    const opened = this.#open();
    this.#all.push(opened);
    return opened;
  }

  #giveBack(connection: TransactionConnection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
  }
}

/** Sends a statement of the transaction. Rejects once its connection is lost: the next one would not know of it. */
export type Send = <Result>(statement: (sql: Sql) => Promise<Result>) => Promise<Result>;

async function transact<Result>(
  connection: TransactionConnection,
  work: (send: Send) => Promise<Result>,
): Promise<Result> {
  const { sql } = connection;
  const send: Send = (statement) => (connection.isLost ? Promise.reject(lost()) : statement(sql));
  connection.isLost = false;
  await sql.unsafe('BEGIN');
  try {
    const result = await work(send);
    await send(() => sql.unsafe('COMMIT'));
    return result;
  } catch (error) {
    await send(() => sql.unsafe('ROLLBACK')).catch(() => undefined);
    throw error;
  }
}
