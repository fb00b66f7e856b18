/** The Postgres event log. Appends go through the group commit; every read asks the database, because others write too. */

import type { Followers } from '../feed/followers.ts';
import type { EventLog, ForkRun, RunHead } from '../ports/event-log.ts';
import type { CommitTail, GroupCommit } from './commit/group-commit.ts';
import type { Database } from './database.ts';
import { forkRuns } from './forks/fork.ts';
import { importRun } from './forks/import-run.ts';
import { type HeadCache, loadHead, type StoredHead } from './heads.ts';
import { purgedRun } from './purged-runs.ts';
import type { Readers } from './readers.ts';
import { readContext, readRun, rowsUntil } from './rows/read-rows.ts';
import type { SharedValues } from './rows/shared-values.ts';

interface EventLogPorts {
  readonly database: Database;
  /** For pages of runs and contexts. */
  readonly readers: Readers;
  readonly values: SharedValues;
  readonly commit: GroupCommit;
  readonly followers: Followers;
  readonly heads: HeadCache;
  readonly writer: number;
  readonly tail: CommitTail;
}

export function postgresEventLog(ports: EventLogPorts): EventLog {
  const { database, readers, values, commit, followers, writer } = ports;
  return {
    append: (append) => commit.submit(append),
    importRun: (run, rows) => importRun(database, writer, run, rows),
    fork: (run) => forkAndTell(ports, run),
    read: async (range) =>
      values.sharing(
        'runId' in range
          ? await readRun(readers.of(range.runId), range)
          : await readContext(readers.of(range.contextId), range),
      ),
    rowsUntil: (runId, cursor) => rowsUntil(readers.of(runId), runId, cursor),
    head: async (runId) => {
      const stored = await loadHead(database.of(readers.tenants.of(runId)), runId);
      if (stored !== null) readers.tenants.note(runId, stored.head.record.tenant);
      return shownHead(stored);
    },
    purged: (runId) => purgedRun(database, runId),
    follow: (listener, interest) => followers.follow(listener, interest),
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
    await tail.deliver(delivered, false);
  } finally {
    end();
  }
}

function shownHead(stored: StoredHead | null): RunHead | null {
  if (stored === null) return null;
  const { record, seq, hash, fence, owner } = stored.head;
  return { record, seq, hash, fence, owner };
}
