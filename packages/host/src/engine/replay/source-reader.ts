/** Reads the record that a replay follows, page by page, and finds the place in it at which the replay stands. */
import type { RunId } from '@cairn/protocol';
import type { RunFork } from '../../log/ports/event-log.ts';
import { isFull, type Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { evolve } from '../core/evolve.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { RunState } from '../core/state.ts';
import { stateFrom } from '../loading/state-text.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { RecordedWork } from './recorded-work.ts';
import { nothingUnderWay, Redecision, type UnderWay } from './redecision.ts';

/** Deciding and writing the rows of a page takes several turns; reading and indexing it takes about 5 ms. */
const PAGE = { limit: 500, maxBytes: 262_144 };

export interface SourcePorts {
  readonly store: Pick<Store, 'log' | 'checkpoints'>;
  /** Checkpoints of another format are ignored. */
  readonly format: string;
}

export class SourceReader {
  readonly #fork: RunFork;
  readonly #ports: SourcePorts;
  /** The run that the recorded events name as their own: a replay of a replay repeats those of the first run. */
  #named: RunId | null = null;

  constructor(fork: RunFork, ports: SourcePorts) {
    this.#fork = fork;
    this.#ports = ports;
  }

  async named(): Promise<RunId> {
    let { sourceRunId } = this.#fork;
    while (this.#named === null) {
      const head = await this.#ports.store.log.head(sourceRunId);
      const above = head?.record.fork ?? null;
      if (above?.mode === 'replay') sourceRunId = above.sourceRunId;
      else this.#named = sourceRunId;
    }
    return this.#named;
  }

  async page(after: number): Promise<{ readonly rows: readonly Row[]; readonly isLast: boolean }> {
    const rows = await this.#ports.store.log.read({ runId: this.#fork.sourceRunId, after, ...PAGE });
    return { rows, isLast: !isFull(rows, PAGE) };
  }

  /** Equal hashes mean that every event so far is the recorded one. */
  async followsRecord(runId: RunId, nextSeq: number): Promise<boolean> {
    if (nextSeq <= this.#fork.fromSeq) return true;
    const last = async (of: RunId) =>
      (await this.#ports.store.log.read({ runId: of, after: nextSeq - 2, limit: 1 }))[0]?.hash;
    const [own, recorded] = [await last(runId), await last(this.#fork.sourceRunId)];
    return own !== undefined && own === recorded;
  }

  /** What is under way where the record is cut before `nextSeq`. */
  async underWayAt(nextSeq: number, workflow: Workflow): Promise<UnderWay> {
    if (nextSeq === 0) return nothingUnderWay;
    const state = await this.#stateBefore(nextSeq);
    const walk = new Redecision({ state, workflow }, (event) => evolve(state, workflow, event));
    for (;;) {
      const { rows, isLast } = await this.page(state.nextSeq - 1);
      for (const row of rows) {
        if (row.seq >= nextSeq) return walk.underWay;
        // The present code has never written these rows, so there is no rest.
        if (walk.take(row) !== null) return nothingUnderWay;
      }
      if (isLast) return walk.underWay;
    }
  }

  /** A checkpoint is saved after an append, so it stands between two decisions. */
  async #stateBefore(nextSeq: number): Promise<RunState> {
    const { store, format } = this.#ports;
    const { sourceRunId } = this.#fork;
    const named = await this.named();
    const checkpoint = await store.checkpoints.get(sourceRunId, nextSeq - 1);
    if (checkpoint?.format !== format) {
      // The first rows of a branch name the run that wrote them.
      const head = await store.log.head(sourceRunId);
      return newRunState(named, head?.record.originRunId);
    }
    return { ...stateFrom(checkpoint.body), runId: named };
  }

  async work(): Promise<RecordedWork> {
    const work = new RecordedWork();
    for (let after = this.#fork.fromSeq - 1; ; ) {
      const { rows, isLast } = await this.page(after);
      for (const row of rows) work.add(row);
      after = rows.at(-1)?.seq ?? after;
      if (isLast) return work;
    }
  }

  /** Rows at these positions, which are in order. */
  async rowsAt(seqs: readonly number[]): Promise<readonly Row[]> {
    const wanted = new Set(seqs);
    const found: Row[] = [];
    for (let after = (seqs[0] ?? 0) - 1; found.length < seqs.length; ) {
      const { rows, isLast } = await this.page(after);
      found.push(...rows.filter(({ seq }) => wanted.has(seq)));
      after = rows.at(-1)?.seq ?? after;
      if (isLast) break;
    }
    return found;
  }
}
