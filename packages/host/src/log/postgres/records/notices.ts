/**
 * Notices to all nodes: rows of a table, read in order. A notification says that there are new ones; a look every second
 * finds those whose notification was lost, or that come through a pooler without sessions.
 */
import { noticeTooLong } from '../../errors.ts';
import { type ListenerFault, Listeners } from '../../feed/followers.ts';
import { MAX_NOTICE_CHARACTERS, type Notice } from '../../ports/cluster.ts';
import type { Database } from '../database.ts';
import { lockKey } from '../lock-key.ts';

const CHANNEL = 'cairn_notices';

/** How often a node looks without a notification. */
const LOOK_MS = 1_000;

/** Notices of one look. */
const PAGE = 500;

/** Every node has read a notice long before. */
const LIFE = "interval '10 minutes'";

export type Delay = (ms: number, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export interface NoticePorts {
  readonly delay: Delay;
  readonly onFault: ListenerFault;
  /** A connection with a session, for notifications. */
  readonly listener: Pick<Database, 'listen'>;
}

export class Notices {
  readonly #database: Database;
  readonly #delay: Delay;
  readonly #listeners: Listeners<Notice>;
  readonly #stop = new AbortController();
  #last: number;
  #reading: Promise<void> | null = null;
  #again = false;
  #unlisten: () => Promise<void> = async () => undefined;

  private constructor(database: Database, last: number, ports: NoticePorts) {
    this.#database = database;
    this.#delay = ports.delay;
    this.#listeners = new Listeners(ports.onFault);
    this.#last = last;
  }

  static async open(database: Database, ports: NoticePorts): Promise<Notices> {
    const [[last] = [0]] = await database.rows<[number]>('SELECT coalesce(max(key), 0) FROM cairn.notices');
    const notices = new Notices(database, last, ports);
    void notices.#lookNowAndThen();
    const look = () => notices.#look();
    // Without a session there are no notifications, only looks.
    ports.listener.listen(CHANNEL, look, look).then(
      (unlisten) => {
        notices.#unlisten = unlisten;
        if (notices.#stop.signal.aborted) void unlisten().catch(() => undefined);
      },
      () => undefined,
    );
    return notices;
  }

  /** Under a lock, so that keys become visible in their order: who has read up to a key never misses a smaller one. */
  async publish(notice: Notice): Promise<void> {
    if (notice.body.length > MAX_NOTICE_CHARACTERS) throw noticeTooLong(notice);
    await this.#database.transaction(async (queries) => {
      await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [lockKey(CHANNEL)]);
      await queries.changed(`DELETE FROM cairn.notices WHERE at < now() - ${LIFE}`);
      await queries.changed('INSERT INTO cairn.notices (topic, body) VALUES ($1::text, $2::text)', [
        notice.topic,
        notice.body,
      ]);
      await queries.rows(`SELECT pg_notify('${CHANNEL}', '')::text`);
    });
    this.#look();
  }

  follow(listener: (notice: Notice) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
    await this.#unlisten().catch(() => undefined);
  }

  async #lookNowAndThen(): Promise<void> {
    try {
      for (;;) {
        await this.#delay(LOOK_MS, undefined, { signal: this.#stop.signal });
        this.#look();
      }
    } catch {
      // The store is closed.
    }
  }

  #look(): void {
    if (this.#stop.signal.aborted) return;
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
  }

  async #readAll(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false;
      try {
        const found = await this.#database.rows<[key: number, topic: string, body: string]>(
          'SELECT key, topic, body FROM cairn.notices WHERE key > $1::bigint ORDER BY key LIMIT $2::integer',
          [this.#last, PAGE],
        );
        for (const [key, topic, body] of found) {
          this.#last = key;
          this.#listeners.tell({ topic, body });
        }
        if (found.length === PAGE) this.#again = true;
      } catch {
        // The next look tries again.
      }
    }
  }
}
