/** Checks every commit of the shared store and, at the end of a seed, the invariants of the whole log. */
import { isDeepStrictEqual } from 'node:util';
import {
  checkRow,
  foldEventOf,
  foldRun,
  newRunView,
  type RunId,
  type RunSnapshot,
  type RunView,
  runSnapshot,
} from '@cairn/protocol';
import type { Commit } from '../../packages/host/src/log/ports/event-log.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import { rowsOf } from '../../packages/host/test/kit/rows-of.ts';
import type { Complain } from './breach.ts';
import { ChainWatch } from './chain-watch.ts';
import type { Interesting } from './coverage.ts';
import { FamilyWatch, type Orphan } from './family-watch.ts';
import { ForkWatch } from './fork-watch.ts';
import { RunAudit } from './run-audit.ts';

export interface AuditorWorld {
  readonly base: Store;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
  /** Called with each row after its check. */
  readonly onRow: (row: Row) => void;
}

export class Auditor {
  readonly runs = new Map<RunId, RunAudit>();
  readonly #world: AuditorWorld;
  readonly #contexts = new Map<string, number>();
  readonly #families: FamilyWatch;
  readonly #chains: ChainWatch;
  readonly forks: ForkWatch;

  constructor(world: AuditorWorld) {
    this.#world = world;
    this.#families = new FamilyWatch(world);
    this.#chains = new ChainWatch(world);
    this.forks = new ForkWatch({ ...world, rowsOf: (runId) => this.runs.get(runId)?.rows ?? [] });
    world.base.log.follow((commit) => this.#take(commit));
  }

  #take(commit: Commit): void {
    const { complain, note } = this.#world;
    const known = this.runs.get(commit.runId);
    const { run, repeated } = known === undefined ? this.#begin(commit) : { run: known, repeated: 0 };
    for (const [i, row] of commit.rows.entries()) {
      note(
        `row ${row.runId} ${row.seq} ${row.type}${row.nodeId === null ? '' : ` ${row.nodeId}`} at ${row.at} ${row.hash.slice(0, 12)}`,
      );
      this.#checkRow(row);
      run.take(row);
      // A replay concerns nobody else, and the rows that a branch repeats are those of its source.
      const isOwn = i >= repeated && !this.forks.isReplay(row.runId);
      if (isOwn) {
        this.#families.take(row);
        this.#chains.take(row);
      }
      if (row.cursor <= (this.#contexts.get(row.contextId) ?? 0)) {
        complain('cursors increase in a context', { contextId: row.contextId, cursor: row.cursor });
      }
      this.#contexts.set(row.contextId, row.cursor);
      if (isOwn) this.#world.onRow(row);
    }
    run.settle();
  }

  #begin(commit: Commit): { readonly run: RunAudit; readonly repeated: number } {
    const { complain, count } = this.#world;
    const { runId } = commit;
    const fork = this.forks.beginning(commit);
    const exists = (eventId: string) => this.#exists(eventId);
    const run = new RunAudit({ runId, originRunId: fork?.originRunId }, { complain, count, exists });
    this.runs.set(runId, run);
    if (fork === null) return { run, repeated: 0 };
    run.share(fork.shared);
    if (!fork.isReplay) {
      this.#families.inherit(fork.asOwn);
      this.#chains.inherit(runId, fork.asOwn);
    }
    return { run, repeated: fork.repeated.length };
  }

  /** Parses every row with the schema of its type. Production trusts its rows and skips this check. */
  #checkRow(row: Row): void {
    try {
      checkRow(row);
    } catch (error) {
      this.#world.complain('a row is what its type says', { runId: row.runId, seq: row.seq, type: row.type, error });
    }
  }

  /** Runs that continue although their parent, or the parent's node, has ended. */
  orphans(): readonly Orphan[] {
    return this.#families.orphans();
  }

  #exists(eventId: string): boolean {
    const colon = eventId.lastIndexOf(':');
    const run = this.runs.get(eventId.slice(0, colon) as RunId);
    return run !== undefined && Number(eventId.slice(colon + 1)) < run.rows.length;
  }

  /** A snapshot must be the fold of a committed prefix, at least as long as the log was at the time of the request. */
  checkSnapshot(runId: RunId, snapshot: RunSnapshot, atLeast: number): void {
    const run = this.runs.get(runId);
    if (run === undefined) {
      this.#world.complain('a snapshot shows a run that exists', { runId });
      return;
    }
    this.#world.count('snapshot compared');
    const shown: unknown = JSON.parse(JSON.stringify(snapshot));
    const view = newRunView(runId);
    let closest: unknown = null;
    for (const row of run.rows) {
      foldRun(view, foldEventOf(row));
      if (row.seq < atLeast) continue;
      closest = JSON.parse(JSON.stringify(runSnapshot(view)));
      if (isDeepStrictEqual(closest, shown)) return;
    }
    this.#world.complain('a snapshot is the fold of what is durable', { runId, atLeast, shown, closest });
  }

  /** Checks the invariants of the whole log once nothing is pending. */
  async checkAll(random: Random): Promise<void> {
    const { base, complain } = this.#world;
    for (const run of this.runs.values()) {
      const { runId } = run;
      const stored = await rowsOf(base, runId);
      if (!isDeepStrictEqual(stored, run.rows)) complain('the log keeps what it told', { runId });
      const cut = random.between(0, run.rows.length);
      if (!isDeepStrictEqual(foldInTwo(run, cut), plain(run.view))) {
        complain('view of prefix and suffix is the view of all', { runId, cut });
      }
      const head = await base.log.head(runId);
      if (head?.record.status !== run.view.status || head.seq !== run.rows.length - 1) {
        complain('the run list agrees with the fold', { runId, listed: head?.record, status: run.view.status });
      }
      const open = (await base.runIndex.interrupts(runId)).filter((record) => record.open).map((r) => r.interruptId);
      if (!isDeepStrictEqual(open.sort(), Object.keys(run.view.interrupts).sort())) {
        complain('the inbox agrees with the fold', { runId, open, folded: Object.keys(run.view.interrupts) });
      }
    }
    this.forks.checkAll();
    const { repaired } = await base.runIndex.rebuild();
    if (repaired > 0) complain('the index is what its rows say', { repaired });
  }
}

const copyOf = (view: RunView): RunView => JSON.parse(JSON.stringify(view));

const plain = (view: RunView): unknown => copyOf(view);

function foldInTwo(run: RunAudit, cut: number): unknown {
  let view = newRunView(run.runId);
  for (const row of run.rows) {
    if (row.seq === cut) view = copyOf(view);
    foldRun(view, foldEventOf(row));
  }
  return plain(view);
}
