/** Writes the row of a new run and its interrupts, in the transaction of an append, an import or a fork. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { FullHead } from '../../admit.ts';
import { asksNobody } from '../../fold-run-index.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import { summaryText } from '../columns.ts';
import { allOwn, type Stretches } from '../forks/stretches.ts';
import { defineMarks, ORIGIN_COLUMNS } from '../marks.ts';
import type { ListedRuns } from '../run-index/listed-runs.ts';
import type { CachedHead, HeadCache } from './head-cache.ts';

export class RunWriter {
  readonly #heads: HeadCache;
  readonly #listed: ListedRuns;
  readonly #create: StatementSync;
  readonly #mark: StatementSync;
  readonly #keepInterrupt: StatementSync;

  constructor(db: DatabaseSync, ports: { readonly heads: HeadCache; readonly listed: ListedRuns }) {
    this.#heads = ports.heads;
    this.#listed = ports.listed;
    this.#create = db.prepare(
      // The key of a purged run is never given to another: its tombstones have it.
      `INSERT INTO runs (key, id, tenant, context, origin, parent, workflow, definition, principal, status, node, tags,
         error_code, error_message, created_at, ended_at, fence, owner, wake_at, imported_at, scope,
         fork_source, fork_seq, fork_mode, summary)
         VALUES (max(coalesce((SELECT max(key) FROM runs), 0), coalesce((SELECT max(key) FROM purged_runs), 0)) + 1,
           ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    defineMarks(db);
    this.#mark = db.prepare(`UPDATE runs SET mark = mark_of(${ORIGIN_COLUMNS}) WHERE key = ?`);
    this.#keepInterrupt = db.prepare(
      `INSERT INTO interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant, title)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (run, id) DO UPDATE SET open = excluded.open, requested_at = excluded.requested_at,
         seq = excluded.seq, votes = excluded.votes, tenant = excluded.tenant, title = excluded.title`,
    );
  }

  /** Returns the run with its key in this database. `shared` are the rows that a fork begins with. */
  create(runId: RunId, head: FullHead, shared: Stretches = []): CachedHead {
    const { record: run, fence, owner, wakeAt } = head;
    const { fork } = run;
    // Values are listed one by one: this runs for every run, and spreading lists of them costs as much as to bind them.
    const created = this.#create.run(
      runId,
      run.tenant,
      run.contextId,
      run.originRunId,
      run.parentRunId,
      run.workflowId,
      run.definitionHash,
      run.principal,
      run.status,
      run.currentNodeId,
      JSON.stringify(run.tags),
      run.errorCode,
      run.errorMessage,
      run.createdAt,
      run.endedAt,
      fence,
      owner,
      wakeAt,
      run.importedAt,
      run.scopeId,
      fork?.sourceRunId ?? null,
      fork?.fromSeq ?? null,
      fork?.mode ?? null,
      summaryText(run.summary),
    );
    const key = Number(created.lastInsertRowid);
    if (fork !== null || run.importedAt !== null) this.#mark.run(key);
    this.#listed.created(key, run);
    const own = { owner: key, from: fork?.fromSeq ?? 0, through: Number.MAX_SAFE_INTEGER };
    const entry = { key, head, stretches: shared.length === 0 && fork === null ? allOwn(key) : [...shared, own] };
    this.#heads.keep(runId, entry);
    return entry;
  }

  /** Interrupts without a tenant are never pending: they belong to imported runs and to replays. */
  interrupt(run: number, interrupt: InterruptRecord, of: RunRecord): void {
    const { interruptId, nodeId, kind, title, open, requestedAt, seq, votes } = interrupt;
    const asked = [run, interruptId, nodeId, kind, open ? 1 : 0, requestedAt, seq] as const;
    this.#keepInterrupt.run(...asked, JSON.stringify(votes), asksNobody(of) ? null : of.tenant, title);
  }
}
