/** Checks everything that a database holds of a run and of all runs, by the events. Reads one row at a time. */
import type { DatabaseSync } from 'node:sqlite';
import { isCairnError } from '@cairn/protocol';
import { ChainWalk } from '../../chain-walk.ts';
import { asksNobody, type FullIndex, reindex } from '../../fold-run-index.ts';
import { isTombstone, type Row } from '../../ports/rows.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import { faceCheck } from '../../task-faces.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from '../columns.ts';
import type { KeptRun } from '../folder/kept-run.ts';
import { type RunInterrupts, runInterrupts } from '../forks/run-interrupts.ts';
import { SharedRows } from '../forks/stretches.ts';
import { query } from '../query.ts';
import { ListedRuns } from '../run-index/listed-runs.ts';
import { type ArtifactCheck, artifactCheck } from './artifact-check.ts';
import { type BlobCheck, blobCheck } from './blob-check.ts';
import { compareIndex } from './compare-index.ts';
import { type DefinitionCheck, definitionCheck } from './definition-check.ts';
import { folderChecks } from './folder-checks.ts';
import { type MarkCheck, markCheck } from './mark-check.ts';
import { type MemoryCheck, memoryCheck } from './memory-check.ts';
import type { ReportProblem } from './problem.ts';
import { startedCheck } from './started-check.ts';
import { valueCheck } from './value-check.ts';

/** What the walk over a run found. */
export interface WalkedRun {
  readonly events: number;
  /** Events whose content was retired. */
  readonly retired: number;
  /** The last hash that follows from the rows. */
  readonly hash: string;
}

export interface StoredChecks {
  run(run: KeptRun, rows: Iterable<Row>, report: ReportProblem): WalkedRun;
  /** What belongs to no single run. `doubt` takes findings that need not be damage. */
  folder(report: ReportProblem, doubt: ReportProblem): void;
}

export function storedChecks(db: DatabaseSync): StoredChecks {
  const tables: RunTables = {
    record: query<RunColumns>(db, `SELECT ${RUN_COLUMNS} FROM runs WHERE runs.key = ?`),
    state: query(
      db,
      `SELECT owner, wake_at, ((fork_source IS NULL) + (fork_seq IS NULL) + (fork_mode IS NULL)) IN (1, 2)
         OR (fork_mode IS NOT NULL AND fork_mode NOT IN ('replay', 'branch'))
         OR (fork_source IS NOT NULL AND fork_source NOT IN (SELECT id FROM runs UNION ALL SELECT id FROM purged_runs))
         FROM runs WHERE key = ?`,
    ),
    inbox: query(db, 'SELECT tenant, open, seq FROM interrupts WHERE run = ?'),
    interrupts: runInterrupts(db),
    shared: new SharedRows(db),
    listed: new ListedRuns(db),
    definitions: definitionCheck(db),
    memories: memoryCheck(db),
    values: valueCheck(db),
    artifacts: artifactCheck(db),
    blobs: blobCheck(db),
    marks: markCheck(db),
  };
  const folder = folderChecks(db);
  return {
    run: (run, rows, report) => new RunCheck(tables, run, report).walk(rows),
    folder(report, doubt) {
      folder(report, doubt);
      tables.definitions.all(report);
      tables.blobs.folder(report);
      tables.marks.others(report);
    },
  };
}

interface RunTables {
  readonly record: ReturnType<typeof query<RunColumns>>;
  readonly state: ReturnType<typeof query<[owner: string | null, wakeAt: number | null, isHalfFork: number]>>;
  readonly inbox: ReturnType<typeof query<[tenant: string | null, open: number, seq: number]>>;
  readonly interrupts: RunInterrupts;
  readonly shared: SharedRows;
  readonly listed: ListedRuns;
  readonly definitions: DefinitionCheck;
  readonly memories: MemoryCheck;
  readonly values: ReturnType<typeof valueCheck>;
  readonly artifacts: ArtifactCheck;
  readonly blobs: BlobCheck;
  readonly marks: MarkCheck;
}

class RunCheck {
  readonly #tables: RunTables;
  readonly #run: KeptRun;
  readonly #report: ReportProblem;
  /** Null for a run whose content was retired as a whole. */
  readonly #record: RunRecord | null;

  constructor(tables: RunTables, run: KeptRun, report: ReportProblem) {
    this.#tables = tables;
    this.#run = run;
    this.#report = report;
    this.#record = this.#stored();
  }

  walk(rows: Iterable<Row>): WalkedRun {
    const { key, originRunId, seq, hash } = this.#run;
    const record = this.#record;
    const chain = new ChainWalk(originRunId);
    const report = this.#report;
    this.#tables.marks.ofRun(this.#run, report);
    const walked = this.#walked(rows[Symbol.iterator](), chain);
    try {
      if (record === null) for (const _ of walked(() => undefined));
      else {
        this.#tables.values(key, report);
        const checks = this.#rowChecks(record);
        const fresh = reindex(record, walked(checks.add));
        // What follows from the rows is compared only if all of them are as they were written.
        if (chain.isIntact) checks.end(fresh);
        this.#listed(record);
      }
    } catch (error) {
      if (!isCairnError(error)) throw error;
      report(chain.next, `event ${chain.next} cannot be read: ${error.message}`);
    }
    if (chain.next !== seq + 1 || chain.hash !== hash)
      report(chain.next - 1, `the run ends with event ${chain.next - 1}, but the folder says with event ${seq}`);
    return { events: chain.next, retired: chain.retired, hash: chain.hash };
  }

  /** Walks all rows, and gives those before the first one that is wrong or has no content. */
  #walked(rows: Iterator<Row>, chain: ChainWalk) {
    const report = this.#report;
    const ownFrom = this.#record === null ? Number.POSITIVE_INFINITY : (this.#run.fork?.fromSeq ?? 0);
    return function* (add: (row: Row) => void): Generator<Row> {
      for (let next = rows.next(); next.done !== true; next = rows.next()) {
        const row = next.value;
        const isRetired = isTombstone(row);
        const wrong = chain.add({ ...row, payload: isRetired ? null : row.payload });
        if (wrong !== null) report(row.seq, wrong);
        if (isRetired && row.seq >= ownFrom) report(row.seq, `event ${row.seq} was purged, but its run was not`);
        if (!chain.isIntact) continue;
        add(row);
        yield row;
      }
    };
  }

  #stored(): RunRecord | null {
    const columns = this.#tables.record.get(this.#run.key);
    if (columns === undefined) return null;
    try {
      return recordOf(columns);
    } catch {
      this.#report(null, 'the tags or the summary of the run in the run list are not JSON');
      return recordOf(columns.with(11, '[]').with(21, '') as RunColumns);
    }
  }

  /** Checks rows with content, and in the end what the tables made of them. */
  #rowChecks(record: RunRecord) {
    const { key, fork } = this.#run;
    const report = this.#report;
    const tables = this.#tables;
    const memories = asksNobody(record) ? null : tables.memories.walk(record.tenant, key, report);
    const blobs = tables.blobs.walk(record.tenant, key, report);
    const isImported = record.importedAt !== null;
    const artifacts = tables.artifacts.walk({ ...this.#run, isImported }, report);
    const wrongFace = faceCheck(record);
    let cursor = 0;
    return {
      add: (row: Row): void => {
        if (row.cursor <= cursor) report(row.seq, `event ${row.seq} has a cursor that does not follow the one before`);
        cursor = row.cursor;
        if (row.seq === 0) {
          startedCheck(record, row, report);
          tables.definitions.ofRun(row, report);
        }
        artifacts.add(row);
        const face = wrongFace(row);
        // The source of a fork keeps the faces, the memories and the blobs of shared rows.
        if (fork !== null && row.seq < fork.fromSeq) return;
        memories?.add(row);
        blobs.add(row);
        if (face !== null) report(row.seq, wrongFaceOf(row.seq));
      },
      end: (fresh: FullIndex): void => {
        compareIndex(fresh, { record, interrupts: this.#interrupts(record) }, report);
        memories?.end();
        blobs.end();
        artifacts.end();
        const [owner, wakeAt, isHalfFork] = tables.state.get(key) ?? [null, null, 0];
        const isOver = record.endedAt !== null || record.importedAt !== null;
        if (isOver && (owner !== null || wakeAt !== null)) report(null, 'the run is over, but it is due or held');
        if (isHalfFork === 1) report(null, 'the run list does not say rightly what the run is a fork of');
      },
    };
  }

  #listed(record: RunRecord): void {
    if (this.#tables.listed.isRight(this.#run.key, record)) return;
    this.#report(null, 'the run list shows other tags or another wait');
  }

  #interrupts(record: RunRecord): ReadonlyMap<string, InterruptRecord> {
    const { interrupts, inbox, shared } = this.#tables;
    const { key } = this.#run;
    const pendingFor = asksNobody(record) ? null : record.tenant;
    for (const [tenant, open, seq] of inbox.iterate(key)) {
      // Older versions did not note the tenant of a closed interrupt.
      const isRight = tenant === pendingFor || (tenant === null && open === 0);
      if (!isRight) this.#report(seq, `the inbox has the tenant ${JSON.stringify(tenant)} for an interrupt`);
      if (open !== 0 && open !== 1) this.#report(seq, `the inbox has an interrupt that is neither open nor closed`);
    }
    try {
      const found = interrupts(record.runId, shared.of(key, record.fork));
      return new Map(found.map((interrupt) => [interrupt.interruptId, interrupt]));
    } catch {
      this.#report(null, 'the votes on an interrupt in the inbox are not JSON');
      return new Map();
    }
  }
}

/** After an update the faces of older rows may differ, too, so that the remedy is part of the finding. */
const wrongFaceOf = (seq: number): string =>
  `the task face of event ${seq} is not the one that this version gives it; "cairn doctor --rebuild" writes it anew`;
