/** An independent model of forks: what they share with their source, and that a replay repeats it. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { Commit, ForkRun, OtherFork } from '../../packages/host/src/log/ports/event-log.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

export interface ForkWorld {
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly rowsOf: (runId: RunId) => readonly Row[];
}

/** What a run begins with: the rows of its source as its own, and those of them that it repeats. */
export interface Beginning {
  readonly originRunId: RunId;
  readonly isReplay: boolean;
  readonly shared: readonly Row[];
  /** The rest of a divided decision, before the row that names the branch. */
  readonly repeated: readonly Row[];
  /** The same rows as a tree of its own would have written them. */
  readonly asOwn: readonly Row[];
}

export class ForkWatch {
  readonly #world: ForkWorld;
  readonly #forks = new Map<RunId, OtherFork>();
  readonly #replays = new Set<RunId>();
  /** The rows that forks begin with, with the ids of their own tree. */
  readonly #asOwn = new Map<RunId, readonly Row[]>();

  constructor(world: ForkWorld) {
    this.#world = world;
  }

  /** Called before the store is asked. The fork may fail. */
  asked({ others = [], ...run }: ForkRun): void {
    for (const one of [run, ...others]) this.#forks.set(one.runId, one);
    if (run.fork.mode === 'replay') this.#replays.add(run.runId);
    if (others.length > 0) this.#world.count('tree forked');
  }

  isReplay(runId: RunId): boolean {
    return this.#replays.has(runId);
  }

  /** Null for a run that is no fork. */
  beginning(commit: Commit): Beginning | null {
    const run = this.#forks.get(commit.runId);
    if (run === undefined) return null;
    const { runId, contextId, originRunId, fork } = run;
    const source = this.#world.rowsOf(fork.sourceRunId);
    const shared = source.slice(0, fork.fromSeq).map((row): Row => ({ ...row, runId, contextId }));
    const isReplay = fork.mode === 'replay';
    this.#world.count(isReplay ? 'run replayed' : 'run branched');
    const place = commit.rows.findIndex(({ type }) => type === 'cairn.run.forked');
    if (!isReplay && place < 0)
      this.#world.complain('a branch says in its first commit where it comes from', { runId });
    const repeated = commit.rows.slice(0, Math.max(0, place));
    const named: Named = place < 0 ? {} : JSON.parse(commit.rows[place]?.payload ?? '{}');
    const before = [...this.#ownRows(fork.sourceRunId).slice(0, fork.fromSeq), ...repeated];
    const asOwn = before.map((row) => renamed({ ...row, runId, contextId }, run, named));
    this.#asOwn.set(runId, asOwn);
    return { originRunId, isReplay, shared, repeated, asOwn };
  }

  #ownRows(runId: RunId): readonly Row[] {
    const begun = this.#asOwn.get(runId) ?? [];
    return [...begun, ...this.#world.rowsOf(runId).slice(begun.length)];
  }

  /** Called once nothing is under way. */
  checkAll(): void {
    for (const runId of this.#replays) this.#checkReplay(runId);
    for (const { runId, fork } of this.#forks.values()) {
      const rows = this.#world.rowsOf(runId).slice(0, fork.fromSeq);
      const source = this.#world.rowsOf(fork.sourceRunId);
      const differs = rows.find(({ seq, hash }) => source[seq]?.hash !== hash);
      if (differs !== undefined) this.#world.complain('a fork shares its beginning', { runId, seq: differs.seq });
    }
  }

  #checkReplay(runId: RunId): void {
    const { sourceRunId } = this.#forks.get(runId)?.fork ?? { sourceRunId: runId };
    const rows = this.#world.rowsOf(runId);
    const source = this.#world.rowsOf(sourceRunId);
    // A fork that shares everything commits nothing.
    if (rows.length === 0) return;
    const differs = rows.find(({ seq, hash }) => source[seq]?.hash !== hash);
    if (differs === undefined && rows.length === source.length) return;
    const { seq, type, payload } = differs ?? { seq: rows.length, type: null, payload: null };
    const recorded = source[seq]?.type;
    this.#world.complain('a replay repeats its source', { runId, sourceRunId, seq, type, payload, recorded });
  }
}

interface Named {
  readonly parentRunId?: RunId;
  readonly children?: Readonly<Record<string, string>>;
}

/** The row with the ids of the new tree. A child that was forked alone names no parent. */
function renamed(row: Row, { runId, fork }: OtherFork, { parentRunId, children = {} }: Named): Row {
  let { payload } = row;
  if (row.type === 'run.started') {
    const { parentRunId: _, ...started }: JsonObject = JSON.parse(payload);
    payload = JSON.stringify({ ...started, ...(parentRunId === undefined ? {} : { parentRunId }) });
  }
  for (const [from, to] of [[fork.sourceRunId, runId], ...Object.entries(children)] as const) {
    payload = payload.replaceAll(`"${from}"`, `"${to}"`);
  }
  return { ...row, payload };
}
