/** Rebuilds run list, inbox and memories from the rows, run by run, interleaved with other appends. */
import type { DatabaseSync } from 'node:sqlite';
import { artifactChanges, isArtifactRow } from '../artifact-changes.ts';
import { asksNobody, type FullIndex, reindex, sameIndex } from '../fold-run-index.ts';
import { isMemoryRow, memoryChanges } from '../memory-changes.ts';
import type { Row } from '../ports/rows.ts';
import type { InterruptRecord, Rebuilt, RunRecord } from '../ports/run-index.ts';
import type { HeadCache } from './append/head-cache.ts';
import { ArtifactTables } from './artifacts/artifact-tables.ts';
import { RUN_COLUMNS, type RunColumns, recordOf, summaryText } from './columns.ts';
import type { GroupCommit } from './commit/group-commit.ts';
import { IndexCheckpoints } from './forks/index-checkpoints.ts';
import { PurgedRows } from './forks/purged-rows.ts';
import { runInterrupts } from './forks/run-interrupts.ts';
import { sharedRowReader } from './forks/shared-row-reader.ts';
import { SharedRows } from './forks/stretches.ts';
import { memoryRepair } from './memories/memory-tables.ts';
import { query, required } from './query.ts';
import type { ListedRuns } from './run-index/listed-runs.ts';

interface RebuildPorts {
  readonly writer: GroupCommit;
  readonly heads: HeadCache;
  readonly listed: ListedRuns;
}

export async function rebuild(db: DatabaseSync, { writer, heads, listed }: RebuildPorts): Promise<Rebuilt> {
  const index = indexTables(db);
  const repairMemories = memoryRepair(db);
  const artifacts = new ArtifactTables(db);
  const indexes = new IndexCheckpoints(db);
  const keys = query<[key: number]>(db, 'SELECT key FROM runs ORDER BY key').all();
  let repaired = 0;
  for (const [key] of keys) {
    const wrong = await writer.submit({
      rows: 1,
      bytes: 0,
      apply: () => {
        heads.save(); // check the table, not the cache
        const stored = index.stored(key);
        const { record } = stored;
        const noted: Row[] = [];
        // A fork whose shared rows were purged keeps the index that it had: it cannot be folded any more.
        if (index.isPurged(key, record)) return false;
        const fresh = reindex(record, noting(index.rows(key, record), noted));
        const firstOwnSeq = record.fork?.fromSeq ?? 0;
        const ownRows = noted.filter((row) => isMemoryRow(row) && row.seq >= firstOwnSeq);
        const place = { context: record.contextId, run: key };
        const isArtifactWrong = artifacts.repair(place, artifactChanges(noted), record.fork);
        const changes = asksNobody(record) ? [] : memoryChanges(ownRows);
        const isMemoryWrong = repairMemories(record.tenant, key, changes);
        if (sameIndex(fresh, stored) && listed.isRight(key, fresh.record)) return isMemoryWrong || isArtifactWrong;
        index.store(key, fresh);
        listed.repair(key, fresh.record);
        indexes.drop(key);
        heads.forget(record.runId);
        return true;
      },
    });
    if (wrong) repaired += 1;
  }
  return { runs: keys.length, repaired };
}

/** Passes the rows through and collects those of memories and artifacts, so that a run's rows are read only once. */
function* noting(rows: Iterable<Row>, noted: Row[]): Iterable<Row> {
  for (const row of rows) {
    if (isMemoryRow(row) || isArtifactRow(row)) noted.push(row);
    yield row;
  }
}

/** Reads and replaces the index of a run in the tables. */
function indexTables(db: DatabaseSync) {
  const run = query<RunColumns>(db, `SELECT ${RUN_COLUMNS} FROM runs WHERE runs.key = ?`);
  const shared = new SharedRows(db);
  const inbox = runInterrupts(db);
  const rowsOf = sharedRowReader(db);
  const purged = new PurgedRows(db);
  const save = db.prepare(
    `UPDATE runs SET workflow = ?, definition = ?, principal = ?, status = ?, node = ?, tags = ?, error_code = ?,
       error_message = ?, created_at = ?, ended_at = ?, scope = ?, summary = ? WHERE key = ?`,
  );
  const endLease = db.prepare('UPDATE runs SET owner = NULL, wake_at = NULL WHERE key = ? AND ended_at IS NOT NULL');
  const dropInbox = db.prepare('DELETE FROM interrupts WHERE run = ?');
  const addInterrupt = db.prepare(
    `INSERT INTO interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant, title)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  return {
    stored(key: number): Pick<FullIndex, 'record' | 'interrupts'> {
      const record = recordOf(required(run.get(key), 'run-key-exists'));
      const interrupts = new Map<string, InterruptRecord>();
      const stretches = shared.of(key, record.fork);
      for (const interrupt of inbox(record.runId, stretches)) interrupts.set(interrupt.interruptId, interrupt);
      return { record, interrupts };
    },
    rows: (key: number, record: RunRecord): Iterable<Row> => rowsOf(record, shared.of(key, record.fork)),
    isPurged: (key: number, { fork }: RunRecord): boolean => fork !== null && purged.isAmong(shared.of(key, fork)),
    store(key: number, { record, interrupts }: { record: RunRecord; interrupts: FullIndex['interrupts'] }): void {
      const { workflowId, definitionHash, principal, status, currentNodeId, errorCode, errorMessage } = record;
      const tags = JSON.stringify(record.tags);
      const names = [workflowId, definitionHash, principal, status, currentNodeId, tags, errorCode, errorMessage];
      save.run(...names, record.createdAt, record.endedAt, record.scopeId, summaryText(record.summary), key);
      endLease.run(key);
      dropInbox.run(key);
      const pendingFor = asksNobody(record) ? null : record.tenant;
      for (const { interruptId, nodeId, kind, title, open, requestedAt, seq, votes } of interrupts.values()) {
        const asked = [key, interruptId, nodeId, kind, open ? 1 : 0, requestedAt, seq] as const;
        addInterrupt.run(...asked, JSON.stringify(votes), pendingFor, title);
      }
    },
  };
}
