/** The Postgres event log. Appends go through the group commit; every read asks the database, because others write too. */

import type { Followers } from '../feed/followers.ts';
import type { EventLog, ForkRun, RunHead } from '../ports/event-log.ts';
import { contextTenant } from './commit/facts.ts';
import type { CommitTail, GroupCommit } from './commit/group-commit.ts';
import type { Database } from './database.ts';
import { forkRuns } from './forks/fork.ts';
import { importRun } from './forks/import-run.ts';
import { type HeadCache, loadHead, type StoredHead } from './heads.ts';
import type { Horizon } from './horizon.ts';
import { purgedRun } from './purged-runs.ts';
import { readChanges } from './rows/changes.ts';
import { contextHead, readContext, readRun, rowsUntil } from './rows/read-rows.ts';

interface EventLogPorts {
  readonly database: Database;
  readonly commit: GroupCommit;
  readonly followers: Followers;
  readonly horizon: Horizon;
  readonly heads: HeadCache;
  readonly writer: number;
  readonly tail: CommitTail;
}

export function postgresEventLog(ports: EventLogPorts): EventLog {
  const { database, commit, followers, horizon, writer } = ports;
  return {
    append: (append) => commit.submit(append),
    importRun: (run, rows) => importRun(database, writer, run, rows),
    fork: (run) => forkAndTell(ports, run),
    read: (range) => ('runId' in range ? readRun(database, range) : readContext(database, range)),
    rowsUntil: (runId, cursor) => rowsUntil(database, runId, cursor),
    lastCursor: () => lastCursor(database),
    head: async (runId) => shownHead(await loadHead(database, runId)),
    purged: (runId) => purgedRun(database, runId),
    contextTenant: (contextId) => contextTenant(database, contextId),
    contextHead: (contextId) => contextHead(database, contextId),
    follow: (listener, wants) => followers.follow(listener, wants),
    changes: (range) => readChanges(database, horizon, range),
    end: async () => {
      await database.rows('SELECT 1');
      return String(await horizon.end());
    },
  };
}

async function forkAndTell({ database, heads, writer, tail }: EventLogPorts, run: ForkRun): Promise<void> {
  const end = tail.begin();
  try {
    const forked = await forkRuns({ database, heads, writer }, run);
    const contextOf = new Map([run, ...(run.others ?? [])].map(({ runId, contextId }) => [runId, contextId]));
    const delivered = forked.flatMap(({ runId, rows, before }) => {
      const contextId = contextOf.get(runId);
      return contextId === undefined ? [] : [{ contextId, before, commits: [{ runId, contextId, rows }] }];
    });
    await tail.deliver(delivered);
  } finally {
    end();
  }
}

async function lastCursor(database: Database): Promise<number> {
  const [[cursor] = [0]] = await database.rows<[number]>(
    `SELECT greatest(coalesce((SELECT max(cursor) FROM cairn.events), 0),
       coalesce((SELECT max(cursor) FROM cairn.tombstones), 0))::bigint`,
  );
  return cursor;
}

function shownHead(stored: StoredHead | null): RunHead | null {
  if (stored === null) return null;
  const { record, seq, hash, fence, owner } = stored.head;
  return { record, seq, hash, fence, owner };
}
