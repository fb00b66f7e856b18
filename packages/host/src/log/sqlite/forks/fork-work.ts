/** Writes a fork in a transaction: the run, which rows it shares, its index and its open questions. */
import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '@cairn/protocol';
import type { FullHead } from '../../admit.ts';
import { checkFork, forkedHead, forkedIndex, neededBefore } from '../../admit-fork.ts';
import { contextTaken, forkContextTaken, idempotencyRefused } from '../../errors.ts';
import type { ForkRun } from '../../ports/event-log.ts';
import { maySave } from '../../ports/idempotency.ts';
import { sourcePurged } from '../../ports/run-purged.ts';
import type { CachedHead, HeadCache } from '../append/head-cache.ts';
import type { RunWriter } from '../append/run-writer.ts';
import { ArtifactTables } from '../artifacts/artifact-tables.ts';
import type { Work } from '../commit/job.ts';
import { idempotencyReader, idempotencyWriter } from '../idempotency.ts';
import { SCAN_COST } from '../read-turns.ts';
import { PurgedRuns } from '../retention/purged-runs.ts';
import { CutFinder, type CutSearch, isAtCut } from './cut.ts';
import { IndexCheckpoints } from './index-checkpoints.ts';
import { lastRowReader } from './last-row.ts';
import { PurgedRows } from './purged-rows.ts';
import { before, type LastRow, SharedRows, type Stretches } from './stretches.ts';

interface ForkPorts {
  readonly heads: HeadCache;
  readonly runs: RunWriter;
}

/** Reads in a turn of the event loop, and charges it with what that costs. */
export type ReadInTurn = <Found>(read: () => Found, costOf: (found: Found) => number) => Found | Promise<Found>;

export class Forks {
  readonly #heads: HeadCache;
  readonly #runs: RunWriter;
  readonly #shared: SharedRows;
  readonly #artifacts: ArtifactTables;
  readonly #checkpoints: IndexCheckpoints;
  readonly #cuts: CutFinder;
  readonly #purgedRuns: PurgedRuns;
  readonly #purgedRows: PurgedRows;
  readonly #lastOf: (stretches: Stretches) => LastRow | null;
  readonly #record: ReturnType<typeof idempotencyReader>;
  readonly #saveRecord: ReturnType<typeof idempotencyWriter>;
  readonly #foreignRun;
  readonly #sameOrigin;

  constructor(db: DatabaseSync, { heads, runs }: ForkPorts) {
    this.#heads = heads;
    this.#runs = runs;
    this.#shared = new SharedRows(db);
    this.#artifacts = new ArtifactTables(db);
    this.#checkpoints = new IndexCheckpoints(db);
    this.#cuts = new CutFinder(db, this.#checkpoints);
    this.#purgedRuns = new PurgedRuns(db);
    this.#purgedRows = new PurgedRows(db);
    this.#lastOf = lastRowReader(db);
    this.#record = idempotencyReader(db);
    this.#saveRecord = idempotencyWriter(db);
    this.#foreignRun = db.prepare('SELECT 1 FROM runs WHERE context = ? AND tenant <> ? LIMIT 1');
    this.#sameOrigin = db.prepare('SELECT 1 FROM runs WHERE context = ? AND origin = ? LIMIT 1');
  }

  /** Refuses what cannot be forked, then folds to the cut, some rows in each turn of the event loop. */
  async cut(run: ForkRun, inTurn: ReadInTurn): Promise<CutSearch> {
    const { fromSeq } = run.fork;
    const begin = () => {
      const { source, head } = this.#check(run);
      return this.#cuts.begin(head.record, source.stretches, fromSeq);
    };
    let search = await inTurn(begin, () => 0);
    while (!isAtCut(search)) {
      const last = search;
      search = await inTurn(
        () => this.#cuts.step(last),
        ({ at, chars }) => (at.seq - last.at.seq) * SCAN_COST + chars,
      );
    }
    return search;
  }

  /** Shared rows never change, so that the index was found before the transaction. */
  work(run: ForkRun, { shared, at }: CutSearch): Work<void> {
    let source: FullHead | null = null;
    return {
      rows: 1 + shared.length,
      bytes: 0,
      prepare: () => {
        source = this.#check(run).head;
        for (const one of run.idempotency ?? [])
          if (!maySave(this.#record(one.record), one.owner)) throw idempotencyRefused(one);
      },
      apply: () => {
        invariant(source !== null, 'fork-is-prepared');
        const index = forkedIndex(run, source, run.fork.fromSeq === 0 ? null : at.index);
        const head = forkedHead(run, index, run.fork.fromSeq === 0 ? null : this.#lastOf(shared));
        const { key } = this.#runs.create(run.runId, head, shared);
        this.#shared.add(key, shared);
        // The last run first: it may have completed what the run before it had open at its cut.
        for (const { owner, through } of shared.toReversed())
          this.#artifacts.share({ context: run.contextId, run: key, mode: run.fork.mode }, owner, through);
        if (head.seq >= 0) this.#checkpoints.put(key, head.seq, index);
        for (const interrupt of index.open.values()) this.#runs.interrupt(key, interrupt, index.record);
        for (const { record } of run.idempotency ?? []) this.#saveRecord(record, key);
      },
    };
  }

  #check(run: ForkRun): { readonly source: CachedHead; readonly head: FullHead } {
    const { sourceRunId } = run.fork;
    const source = this.#heads.get(sourceRunId);
    if (source === null && this.#purgedRuns.get(sourceRunId)?.tenant === run.tenant) throw sourcePurged(run.fork);
    const isKnown = this.#heads.get(run.runId) !== null;
    const head = checkFork(run, { source: source?.head ?? null, owners: source?.stretches.length ?? 0, isKnown });
    invariant(source !== null, 'fork-has-source');
    if (this.#isInPurgedTree(head)) throw sourcePurged(run.fork);
    if (this.#purgedRows.isAmong(before(source.stretches, neededBefore(run.fork)))) throw sourcePurged(run.fork);
    if (this.#foreignRun.get(run.contextId, run.tenant) !== undefined) throw contextTaken(run);
    if (this.#sameOrigin.get(run.contextId, run.originRunId) !== undefined) throw forkContextTaken(run);
    return { source, head };
  }

  /** A purge retires the root of a tree first. No fork begins to share a run that is about to go. */
  #isInPurgedTree({ record }: FullHead): boolean {
    for (let above = record.parentRunId; above !== null; ) {
      const parent = this.#heads.get(above);
      if (parent === null) return this.#purgedRuns.get(above) !== null;
      above = parent.head.record.parentRunId;
    }
    return false;
  }
}
