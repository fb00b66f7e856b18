/** The SQLite store put together: one connection that reads and writes, one thread that checkpoints. */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Followers, type ListenerFault, uncaught } from '../feed/followers.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import { storeClosed } from '../refusals.ts';
import { Appender } from './append.ts';
import { Checkpointer } from './checkpoint.ts';
import { storeError } from './errors.ts';
import { type ElapsedMs, type Flush, GroupCommit, type Read } from './group-commit.ts';
import { sqliteQueue } from './queue.ts';
import { Reader } from './read.ts';
import { rebuild } from './rebuild.ts';
import { sqliteRecords } from './records.ts';
import { Sessions } from './sessions.ts';
import { Slots } from './slots.ts';
import { walFlush } from './wal-flush.ts';

export interface SqliteStore extends Store {
  /** Transactions and rows committed since it was opened; for measurements. */
  stats(): { readonly commits: number; readonly rows: number };
  /** The size of the write-ahead log as it is now. */
  walBytes(): number;
}

export interface StoreParts {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly onFault?: ListenerFault | undefined;
  /** Called once the database is closed: whole, or after a flush that failed. */
  readonly closed: (as: 'whole' | 'broken') => void;
  /** Default: a flush of the WAL by a thread of Node's pool. */
  readonly flush?: Flush | undefined;
  /** Default: no disk is taken for a slow one. */
  readonly elapsedMs?: ElapsedMs | undefined;
}

/** A store over an open, migrated database that nobody else writes. */
export function assembleStore({ db, file, onFault = uncaught, closed, ...parts }: StoreParts): SqliteStore {
  const slots = new Slots(db);
  const sessions = new Sessions();
  const followers = new Followers(onFault);
  const appender = new Appender(db, { slots, sessions, followers });
  const reader = new Reader(db, slots);
  const hooks = {
    beforeCommit: () => slots.save(),
    rolledBack: () => slots.clear(),
    afterCommit: (rows: number, bytes: number) => checkpointer.wrote(rows, bytes),
    broken: onFault,
  };
  // Beside the file itself, wherever the name in the folder leads.
  const walFile = `${db.location()}-wal`;
  const wal = walFlush(walFile);
  const { flush = wal.flush, elapsedMs = () => 0 } = parts;
  const writer = new GroupCommit(db, { file, flush, hooks, elapsedMs });
  const checkpointer = new Checkpointer(db, { file, writer, onFault });
  let closing: Promise<void> | null = null;

  const read: Read = (query) => {
    if (closing !== null) throw storeClosed();
    return writer.look(() => {
      try {
        return query();
      } catch (error) {
        throw storeError(error, file);
      }
    });
  };
  const close = async (): Promise<void> => {
    await writer.close();
    await checkpointer.close();
    wal.close();
    db.close();
    closed(writer.isBroken ? 'broken' : 'whole');
  };
  const log: EventLog = {
    append: (append) => writer.submit(appender.work(append)),
    read: async (range) => read(() => reader.rows(range)),
    changes: async (range) => read(() => reader.changes(range)),
    end: async () => read(() => reader.end()),
    follow: (listener) => followers.add(listener),
    head: async (runId) =>
      read(() => {
        const slot = slots.get(runId)?.slot;
        if (slot === undefined) return null;
        const { record, seq, hash, fence, owner } = slot;
        return { record, seq, hash, fence, owner };
      }),
    contextTenant: async (contextId) => read(() => reader.contextTenant(contextId)),
    list: async (query) => read(() => reader.list(query)),
    interrupts: async (runId) => read(() => reader.interrupts(runId)),
    pending: async (query) => read(() => reader.pending(query)),
    importRun: async (run, rows) => {
      const refusal = await writer.submit(appender.importWork(run, rows));
      if (refusal !== null) throw refusal;
    },
    rebuild: async () => rebuild(db, writer, slots),
  };
  return {
    log,
    queue: sqliteQueue(db, { slots, sessions, writer, read }),
    records: sqliteRecords(db, writer, read),
    stats: () => ({ commits: writer.commits, rows: appender.written }),
    walBytes: () => statSync(walFile, { throwIfNoEntry: false })?.size ?? 0,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
