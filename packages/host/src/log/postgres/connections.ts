/**
 * Connections to a database, each used by one statement or transaction at a time. The driver forgets statements that it
 * takes between the error and the end of a socket, and queues others behind them. Here they fail with their connection,
 * which is not used again. Those who wait for a connection take turns.
 */
import type { Socket } from 'node:net';
import postgres, { type Options, type Sql } from 'postgres';
import { PassingSet } from '../../passing-map.ts';
import { RoundRobin } from '../../round-robin.ts';
import { dialing } from './dial.ts';
import { isDisconnected } from './errors.ts';

/** The codes are those of the driver, so that a loss counts as one of the connection. */
const lost = (): Error => Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
const timedOut = (ms: number): Error =>
  Object.assign(new Error(`no answer within ${ms / 1_000} s`), { code: 'ETIMEDOUT' });
const ended = (): Error => Object.assign(new Error('the connections were closed'), { code: 'CONNECTION_ENDED' });

/** How often a connection is used. A server process keeps what it learned of every table and plan it ever met. */
const MAX_USES = 200_000;

export type Statement<Result> = (sql: Sql) => Promise<Result>;

/** Sends a statement. */
export type Send = <Result>(statement: Statement<Result>) => Promise<Result>;

export interface ConnectionsOptions {
  readonly href: string;
  readonly options: Options<Record<string, postgres.PostgresType>>;
  /** Most connections at a time. What finds none waits: owners take turns. */
  readonly most: number;
  /** How long a statement may take; null for as long as it likes. Its connection is then cut: nobody may be there. */
  readonly deadlineMs: number | null;
}

/** A connection that opens with its first statement, and is not used again after a loss. */
class Connection {
  readonly #sql: Sql;
  readonly #deadlineMs: number | null;
  #socket: Socket | null = null;
  #uses = 0;
  #isLost = false;
  readonly #underWay = new PassingSet<(error: Error) => void>();

  constructor({ href, options, deadlineMs }: ConnectionsOptions) {
    this.#deadlineMs = deadlineMs;
    // The driver would end a connection while it takes a statement, and open another one for it.
    const own = { max: 1, idle_timeout: 0, max_lifetime: 0 };
    const onclose = () => {
      this.#isLost = true;
      for (const reject of this.#underWay) reject(lost());
    };
    const socket = dialing((opened) => {
      this.#socket = opened;
    });
    this.#sql = postgres(href, { ...options, ...own, ...{ socket }, onclose });
  }

  get isUsable(): boolean {
    return !this.#isLost && this.#uses < MAX_USES;
  }

  send<Result>(statement: Statement<Result>): Promise<Result> {
    if (this.#isLost) return Promise.reject(lost());
    this.#uses += 1;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#underWay.add(reject);
    const deadline = this.#deadline();
    const over = () => {
      clearTimeout(deadline);
      this.#underWay.delete(reject);
    };
    statement(this.#sql).then(
      (result) => {
        over();
        resolve(result);
      },
      (error: unknown) => {
        over();
        // The end of the socket follows.
        if (isDisconnected(error)) this.#isLost = true;
        reject(error);
      },
    );
    return promise;
  }

  async end(timeoutS: number): Promise<void> {
    await this.#sql.end({ timeout: timeoutS });
    this.#socket?.destroy();
  }

  /** What became of the statements on a connection that is cut is not known, as after any loss. */
  #deadline(): NodeJS.Timeout | undefined {
    const ms = this.#deadlineMs;
    if (ms === null) return undefined;
    return setTimeout(() => {
      this.#isLost = true;
      for (const reject of this.#underWay) reject(timedOut(ms));
      this.#socket?.destroy();
    }, ms).unref();
  }
}

interface Waiting {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Connection>();
  /** The last one given back is the next one taken: its server process is warm, and has prepared the statements. */
  readonly #free: Connection[] = [];
  readonly #waiting = new RoundRobin<Waiting>();
  #isEnded = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get deadlineMs(): number | null {
    return this.#options.deadlineMs;
  }

  /** Nothing else uses the connection meanwhile. */
  async use<Result>(work: (send: Send) => Promise<Result>, owner = ''): Promise<Result> {
    const connection = await this.#take(owner);
    try {
      return await work((statement) => connection.send(statement));
    } finally {
      this.#giveBack(connection);
    }
  }

  /** Sends a statement right behind another one. Answers as the first does; the second may fail. */
  async pair<Result>(first: Statement<Result>, behind: Statement<unknown>, owner: string): Promise<Result> {
    const connection = await this.#take(owner);
    const answered = connection.send(first);
    const others = connection.send(behind).catch(() => undefined);
    void answered
      .catch(() => undefined)
      .then(() => others)
      .then(() => this.#giveBack(connection));
    return answered;
  }

  /** Waits for what is under way, at most so many seconds. */
  async end(timeoutS: number): Promise<void> {
    this.#isEnded = true;
    for (let next = this.#waiting.next(); next !== null; next = this.#waiting.next()) next.reject(ended());
    await Promise.all([...this.#all].map((connection) => connection.end(timeoutS)));
  }

  #take(owner: string): Promise<Connection> | Connection {
    if (this.#isEnded) return Promise.reject(ended());
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (free.isUsable) return free;
      this.#drop(free);
    }
    if (this.#all.size < this.#options.most) return this.#opened();
    return new Promise((resolve, reject) => {
      this.#waiting.add([owner], { resolve, reject });
    });
  }

  #opened(): Connection {
    const connection = new Connection(this.#options);
    this.#all.add(connection);
    return connection;
  }

  #giveBack(connection: Connection): void {
    if (!connection.isUsable) this.#drop(connection);
    const next = this.#waiting.next();
    if (next !== null) next.resolve(connection.isUsable ? connection : this.#opened());
    else if (connection.isUsable) this.#free.push(connection);
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection);
    connection.end(0).catch(() => undefined);
  }
}
