/** The Postgres event log. Appends go through the group commit; every read asks the database, because others write too. */

import type { Followers } from '../feed/followers.ts';
import type { EventLog, RunHead } from '../ports/event-log.ts';
import { contextTenant } from './commit/facts.ts';
import type { GroupCommit } from './commit/group-commit.ts';
import type { Database } from './database.ts';
import { loadHead, type StoredHead } from './heads.ts';
import type { Horizon } from './horizon.ts';
import { purgedRun } from './purged-runs.ts';
import { readChanges } from './rows/changes.ts';
import { contextHead, readContext, readRun, rowsUntil } from './rows/read-rows.ts';

interface EventLogPorts {
  readonly database: Database;
  readonly commit: GroupCommit;
  readonly followers: Followers;
  readonly horizon: Horizon;
}

export function postgresEventLog({ database, commit, followers, horizon }: EventLogPorts): EventLog {
  return {
    append: (append) => commit.submit(append),
    importRun: async () => {
      throw new Error('not yet');
    },
    fork: async () => {
      throw new Error('not yet');
    },
    read: (range) => ('runId' in range ? readRun(database, range) : readContext(database, range)),
    rowsUntil: (runId, cursor) => rowsUntil(database, runId, cursor),
    lastCursor: () => lastCursor(database),
    head: async (runId) => shownHead(await loadHead(database, runId)),
    purged: (runId) => purgedRun(database, runId),
    contextTenant: (contextId) => contextTenant(database, contextId),
    contextHead: (contextId) => contextHead(database, contextId),
    follow: (listener) => followers.add(listener),
    changes: (range) => readChanges(database, horizon, range),
    end: async () => {
      await database.rows('SELECT 1');
      return String(await horizon.end());
    },
  };
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
