/**
 * Transactions, each on a connection that nothing else uses meanwhile. The driver's own transactions go on after their
 * connection is lost, which ends the process: it writes their rollback to a socket that is gone.
 */
import type { Sql } from 'postgres';

/** The code is that of the driver, so that the loss counts as one of the connection. */
const lost = (): Error =>
  Object.assign(new Error('the connection of the transaction was lost'), { code: 'CONNECTION_CLOSED' });

/** A connection that opens when it is needed, and is not used again after a loss. */
class TransactionConnection {
  readonly sql: Sql;
  #isLost = false;
  readonly #underWay = new Set<(error: Error) => void>();

  constructor(open: (closed: () => void) => Sql) {
    this.sql = open(() => {
      this.#isLost = true;
      for (const reject of this.#underWay) reject(lost());
    });
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** The driver forgets statements that it takes while a connection breaks. They fail here with the connection. */
  send<Result>(statement: (sql: Sql) => Promise<Result>): Promise<Result> {
    if (this.#isLost) return Promise.reject(lost());
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#underWay.add(reject);
    const end = () => this.#underWay.delete(reject);
    statement(this.sql).then(resolve, reject).then(end, end);
    return promise;
  }
}

export class Transactions {
  readonly #open: () => TransactionConnection;
  readonly #all = new Set<TransactionConnection>();
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
    await Promise.all([...this.#all].map(({ sql }) => sql.end({ timeout: timeoutS })));
  }

  #take(): Promise<TransactionConnection> | TransactionConnection {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (!free.isLost) return free;
      this.#drop(free);
    }
    return this.#all.size < this.#most
      ? this.#opened()
      : new Promise((resolve) => {
          this.#waiting.push(resolve);
        });
  }

  #opened(): TransactionConnection {
    const connection = this.#open();
    this.#all.add(connection);
    return connection;
  }

  #giveBack(connection: TransactionConnection): void {
    if (connection.isLost) this.#drop(connection);
    const next = this.#waiting.shift();
    if (next !== undefined) next(connection.isLost ? this.#opened() : connection);
    else if (!connection.isLost) this.#free.push(connection);
  }

  #drop(connection: TransactionConnection): void {
    this.#all.delete(connection);
    connection.sql.end({ timeout: 0 }).catch(() => undefined);
  }
}

/** Sends a statement of the transaction. */
export type Send = <Result>(statement: (sql: Sql) => Promise<Result>) => Promise<Result>;

async function transact<Result>(
  connection: TransactionConnection,
  work: (send: Send) => Promise<Result>,
): Promise<Result> {
  const send: Send = (statement) => connection.send(statement);
  await send((sql) => sql.unsafe('BEGIN'));
  try {
    const result = await work(send);
    await send((sql) => sql.unsafe('COMMIT'));
    return result;
  } catch (error) {
    await send((sql) => sql.unsafe('ROLLBACK')).catch(() => undefined);
    throw error;
  }
}
