/** Purges trees of runs: checks that no other run needs them, then removes them in small steps, one tree at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ContextId, type RunId, TerminalError } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Purges } from '../../log/ports/purges.ts';
import type { Retention } from '../../log/ports/retention.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { runPurged } from '../../log/ports/run-purged.ts';
import { hostInstruments } from '../../telemetry/instruments.ts';
import type { Recorder } from '../../telemetry/meter.ts';

export interface PurgerPorts {
  readonly log: Pick<EventLog, 'purged' | 'head'>;
  readonly retention: Retention;
  readonly purges: Purges;
  /** Deletes the files of a run. */
  readonly removeFiles: (runId: RunId) => Promise<void>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly recorder: Recorder;
}

/** What a purge removes, or would remove. */
export interface TreeSize {
  readonly runs: number;
  readonly events: number;
  /** As quotas count them. */
  readonly bytes: number;
  /** Runs outside the tree that need its events, at most `SHOWN_FORKS`. */
  readonly forks: readonly RunId[];
}

/** A run that reads as purged from now on. */
export interface RetiredRun {
  readonly runId: RunId;
  readonly contextId: ContextId;
}

/** Between two steps the host does other work. A step takes about 3 ms. */
const PAUSE_MS = 2;

const PAGE = 100;
const SHOWN_FORKS = 10;

/** Free space that is left in the file for the next rows. */
const RESERVED_BYTES = 1_048_576;

export class TreePurger {
  readonly #ports: PurgerPorts;
  /** Ends when all purges that were asked for are done. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #listeners = new Set<(run: RetiredRun) => void>();

  constructor(ports: PurgerPorts) {
    this.#ports = ports;
  }

  /** Calls the listener for each run as soon as it reads as purged, so that nothing in memory shows it any more. */
  follow(listener: (run: RetiredRun) => void): void {
    this.#listeners.add(listener);
  }

  /** Throws unless the tree below this root run can be purged. With force, forks may lose what they share. */
  async survey(root: RunRecord, isForced: boolean): Promise<TreeSize> {
    if (root.parentRunId !== null) throw notARoot(root, await this.#rootOf(root));
    const inTree = new Set<RunId>();
    const forks = new Map<RunId, RunRecord>();
    let [events, bytes] = [0, 0];
    for await (const run of this.#tree(root)) {
      refuseActive(run, root);
      inTree.add(run.runId);
      for (const fork of await this.#ports.retention.forks(run.runId, PAGE)) forks.set(fork.runId, fork);
      const size = await this.#sizeOf(run.runId);
      events += size.events;
      bytes += size.bytes;
    }
    const others = [...forks.values()].filter(({ runId }) => !inTree.has(runId));
    const active = others.find(isActive);
    if (active !== undefined || (others.length > 0 && !isForced)) throw neededByForks(root, others, active);
    return { runs: inTree.size, events, bytes, forks: others.slice(0, SHOWN_FORKS).map(({ runId }) => runId) };
  }

  /** Resolves once everything is gone. The run reads as purged long before. */
  purge(root: RunRecord, isForced: boolean): Promise<TreeSize> {
    return this.#inTurn(async () => {
      const gone = await this.#ports.log.purged(root.runId);
      if (gone !== null) throw runPurged(gone);
      const size = await this.survey(root, isForced);
      await this.#ports.purges.retire(root.runId, this.#ports.now());
      this.#tell(root);
      await this.#finish([root.runId], root.contextId);
      const { recorder } = this.#ports;
      recorder.add(hostInstruments.purgedRuns, [], size.runs);
      recorder.add(hostInstruments.purgedBytes, [], size.bytes);
      return size;
    });
  }

  /** Goes on with what an earlier process began. Returns the number of runs. */
  resume(): Promise<number> {
    return this.#inTurn(async () => {
      let runs = 0;
      for (;;) {
        const left = await this.#ports.purges.unfinished(PAGE);
        if (left.length === 0) return runs;
        runs += left.length;
        await this.#finish([...left], null);
      }
    });
  }

  /** Gives free space back to the disk, if there is much of it. Returns the bytes by which the file may shrink. */
  releaseSpace(): Promise<number> {
    return this.#inTurn(async () => {
      const { purges } = this.#ports;
      let { bytes, isReleasable } = await purges.releaseSome();
      const free = bytes;
      if (!isReleasable || free < RESERVED_BYTES) return 0;
      while (bytes >= RESERVED_BYTES) {
        await this.#pause();
        ({ bytes } = await purges.releaseSome());
      }
      await purges.shrink();
      return free - bytes;
    });
  }

  /** Stops after the current step. What is left is purged after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #tell(run: RetiredRun): void {
    for (const listener of this.#listeners) listener(run);
  }

  /** The context is that of the tree; null after a start, before its runs were read. */
  async #finish(left: RunId[], contextId: ContextId | null): Promise<void> {
    const { purges, removeFiles } = this.#ports;
    for (let runId = left.pop(); runId !== undefined; runId = left.pop()) {
      for (;;) {
        const { retired, isDone } = await purges.purgeSome(runId);
        left.push(...retired);
        if (contextId !== null) for (const below of retired) this.#tell({ runId: below, contextId });
        await this.#pause();
        if (isDone) break;
      }
      await removeFiles(runId);
      await purges.finish(runId);
    }
  }

  #pause(): Promise<void> {
    if (this.#isClosed) return Promise.reject(stopping());
    return new Promise((resolve) => void this.#ports.timers.after(PAUSE_MS, resolve));
  }

  /** The run, then the runs below it, page by page. */
  async *#tree(root: RunRecord): AsyncGenerator<RunRecord> {
    const open = [root];
    for (let run = open.pop(); run !== undefined; run = open.pop()) {
      yield run;
      for (let after: RunId | null = null; ; ) {
        const page: readonly RunRecord[] = await this.#ports.retention.children(run.runId, after, PAGE);
        open.push(...page);
        if (page.length < PAGE) break;
        after = page.at(-1)?.runId ?? null;
      }
    }
  }

  async #sizeOf(runId: RunId): Promise<{ readonly events: number; readonly bytes: number }> {
    let [events, bytes] = [0, 0];
    for (let after: number | null = -1; after !== null; ) {
      const page = await this.#ports.retention.size(runId, after);
      events += page.events;
      bytes += page.bytes;
      after = page.nextAfter;
      // The store answers at once: a hundred pages of a run of 100,000 events would be one turn of 70 ms.
      if (after !== null) await nextTurn();
    }
    return { events, bytes };
  }

  async #rootOf(run: RunRecord): Promise<RunId> {
    let root = run;
    while (root.parentRunId !== null) {
      const above = await this.#ports.log.head(root.parentRunId);
      if (above === null) return root.parentRunId;
      root = above.record;
    }
    return root.runId;
  }
}

/** An imported run never goes on here. */
const isActive = ({ endedAt, importedAt }: RunRecord): boolean => endedAt === null && importedAt === null;

function refuseActive(run: RunRecord, { runId: root }: RunRecord): void {
  if (!isActive(run)) return;
  const { runId, status } = run;
  const of = runId === root ? '' : `, which run ${root} started,`;
  throw new TerminalError('conflict', {
    message: `Run ${runId}${of} is ${status}; only a tree of runs that have all ended can be purged.`,
    hint: `Cancel it first: POST /v1/runs/${runId}/cancel, or "cairn cancel ${runId}".`,
    details: { runId, runStatus: status },
  });
}

const notARoot = ({ runId }: RunRecord, rootRunId: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} is part of the tree of run ${rootRunId}, and a tree is purged as a whole.`,
    hint: `Purge ${rootRunId} instead.`,
    details: { runId, rootRunId },
  });

function neededByForks(
  { runId }: RunRecord,
  others: readonly RunRecord[],
  active: RunRecord | undefined,
): TerminalError {
  const forks = others.slice(0, SHOWN_FORKS).map((fork) => fork.runId);
  const named = `${forks.join(', ')}${others.length > forks.length ? ' and more' : ''}`;
  return new TerminalError('conflict', {
    message: `Forks need events of run ${runId} or of a run below it: ${named}.`,
    hint:
      active === undefined
        ? 'Purge the forks first. With force=true (--force) this run goes anyway, and the forks lose the events they share.'
        : `Run ${active.runId} is ${active.status}. Cancel it first.`,
    details: { runId, forks },
  });
}

const stopping = (): TerminalError =>
  new TerminalError('service_unavailable', {
    message: 'The host is stopping. It goes on with the purge after its next start.',
  });
