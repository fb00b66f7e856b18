/** Feeds log commits to the run metrics, keeping bounded state about active runs. */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { EventLoop, Report } from '../engine/ports.ts';
import type { Commit, EventLog } from '../log/ports/event-log.ts';
import { bodySize, type Row } from '../log/ports/rows.ts';
import type { RunIndex } from '../log/ports/run-index.ts';
import type { Store } from '../log/ports/store.ts';
import { LruMap } from '../lru-map.ts';
import { readMembers } from './json-members.ts';
import type { Recorder } from './meter.ts';
import { countRow, isRare, type OpenRun, openRun, rareTypes, startedRun } from './run-metrics.ts';

/** Runs kept in memory. An evicted run, or one older than this process, is reloaded when it continues. */
const MAX_RUNS = 5_000;
/** Their open nodes, and how many commits pass between two looks at them. A run can have thousands. */
const MAX_OPEN_NODES = 200_000;
const COMMITS_BETWEEN = 1_000;
/** Rows to reload of a run: enough to know what is open, regardless of the run's length. */
const READ_BACK = 256;
const READ_BACK_BYTES = 1_048_576;
/** Rows that wait while their runs reload, and the characters they hold. Beyond it they are counted without reloading. */
const MAX_WAITING = 10_000;
const MAX_WAITING_CHARACTERS = 16_777_216;

export interface MetricFeedPorts {
  readonly store: Pick<Store, 'log' | 'runIndex'>;
  readonly recorder: Recorder;
  readonly report: Report;
  readonly nextTurn: EventLoop['nextTurn'];
}

const silent: Recorder = { add: () => undefined, record: () => undefined };

export class MetricFeed {
  readonly #log: EventLog;
  readonly #runIndex: Pick<RunIndex, 'interrupts'>;
  readonly #recorder: Recorder;
  readonly #report: Report;
  readonly #nextTurn: EventLoop['nextTurn'];
  readonly #maxOpenNodes: number;
  readonly #runs = new LruMap<RunId, OpenRun>(MAX_RUNS);
  readonly #waiting = new Map<RunId, Row[]>();
  readonly #stop: () => void;
  #commits = 0;
  #waitingRows = 0;
  #waitingCharacters = 0;
  /** Whether nodes and calls are counted too. */
  #isClose = false;

  constructor(
    { store: { log, runIndex }, recorder, report, nextTurn }: MetricFeedPorts,
    maxOpenNodes = MAX_OPEN_NODES,
  ) {
    this.#maxOpenNodes = maxOpenNodes;
    this.#nextTurn = nextTurn;
    this.#log = log;
    this.#runIndex = runIndex;
    this.#recorder = recorder;
    this.#report = report;
    this.#stop = log.follow((commit) => this.#take(commit), { types: () => (this.#isClose ? null : rareTypes) });
  }

  /** Starts counting nodes and calls too. Off until needed: it costs 18 instead of 2 microseconds per ten-step run. */
  lookClosely(): void {
    if (this.#isClose) return;
    this.#isClose = true;
    // Their open nodes and calls were not recorded, so the runs are reloaded when they continue.
    this.#runs.clear();
  }

  close(): void {
    this.#stop();
  }

  #take({ runId, rows }: Commit): void {
    const first = rows[0];
    if (first === undefined || !(this.#isClose || rows.some(isRare))) return;
    this.#commits += 1;
    if (this.#commits % COMMITS_BETWEEN === 0) this.#forgetLarge();
    // A commit does not refresh its run in the LRU: two more map operations per commit cost more than a reload.
    let run = this.#runs.peek(runId);
    if (run === undefined) {
      if (first.seq > 0) {
        this.#wait(runId, first, rows);
        return;
      }
      run = startedRun(first);
      this.#runs.set(runId, run);
    }
    this.#count(runId, run, rows);
  }

  /** Drops the runs that began first, beyond the limit. */
  #forgetLarge(): void {
    let nodes = 0;
    for (const [runId, run] of [...this.#runs].reverse()) {
      nodes += run.nodes.size;
      if (nodes > this.#maxOpenNodes) this.#runs.delete(runId);
    }
  }

  /** Runs in memory. */
  get cachedRuns(): number {
    return this.#runs.size;
  }

  #count(runId: RunId, run: OpenRun, rows: readonly Row[]): void {
    for (const row of rows) {
      if (this.#isClose || isRare(row)) countRow(run, row, this.#recorder);
      if (isTerminalType(row.type)) this.#runs.delete(runId);
    }
  }

  #wait(runId: RunId, { seq, at }: Row, rows: readonly Row[]): void {
    const waiting = this.#waiting.get(runId);
    if (!this.#hasRoom(rows)) {
      this.#count(
        runId,
        openRun({ workflowId: 'unknown', tenant: 'unknown', startedAt: at, isReplay: false, hasBegun: true }),
        rows,
      );
      return;
    }
    this.#noteWaiting(rows, 1);
    if (waiting !== undefined) {
      waiting.push(...rows);
      return;
    }
    const kept = [...rows];
    this.#waiting.set(runId, kept);
    this.#readUp(runId, seq, rows)
      .then((run) => {
        this.#runs.set(runId, run);
        this.#count(runId, run, kept);
      })
      .catch((error: unknown) =>
        this.#report({ level: 'warn', event: 'telemetry.run_skipped', facts: { runId }, error }),
      )
      .finally(() => {
        this.#waiting.delete(runId);
        this.#noteWaiting(kept, -1);
      });
  }

  #hasRoom(rows: readonly Row[]): boolean {
    if (this.#waitingRows + rows.length > MAX_WAITING) return false;
    return this.#waitingRows === 0 || this.#waitingCharacters + charactersOf(rows) <= MAX_WAITING_CHARACTERS;
  }

  #noteWaiting(rows: readonly Row[], sign: 1 | -1): void {
    this.#waitingRows += sign * rows.length;
    this.#waitingCharacters += sign * charactersOf(rows);
  }

  /** Loads the open state of a run before these next rows. Not in the turn of the commit: its writer waits there. */
  async #readUp(runId: RunId, before: number, next: readonly Row[]): Promise<OpenRun> {
    await new Promise<void>(this.#nextTurn);
    const after = Math.max(before - READ_BACK, 0) - 1;
    const range = { runId, after, limit: before - 1 - after, maxBytes: READ_BACK_BYTES, isForFrames: true };
    const [head, rows] = await Promise.all([this.#log.head(runId), this.#log.read(range)]);
    const { workflowId = 'unknown', tenant = 'unknown', createdAt = 0, fork } = head?.record ?? {};
    const isReplay = fork?.mode === 'replay';
    const run = openRun({ workflowId, tenant, startedAt: createdAt, isReplay, hasBegun: after >= 0 });
    for (const row of rows) countRow(run, row, silent);
    if (after >= 0) await this.#addQuestions(run, runId, next);
    return run;
  }

  /** Adds interrupts requested before the reloaded rows. */
  async #addQuestions(run: OpenRun, runId: RunId, next: readonly Row[]): Promise<void> {
    // The inbox shows the current state: an interrupt resolved by these rows is closed there, but was open before them.
    const answered = new Set(next.filter(({ type }) => type === 'interrupt.resolved').map(interruptOf));
    for (const { interruptId, nodeId, kind, open, requestedAt } of await this.#runIndex.interrupts(runId)) {
      if (!open && !answered.has(interruptId)) continue;
      run.interrupts ??= new Map();
      run.interrupts.set(interruptId, { kind, nodeId, at: requestedAt });
    }
  }
}

const charactersOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + bodySize(row), 0);

const interruptOf = ({ payload }: Row): string => String(readMembers(payload, ['interruptId'])[0]);
