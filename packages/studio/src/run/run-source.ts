/**
 * The rows of a run, kept up to date: first the last ones and the snapshot, so that a long run shows at once, then all of them
 * from the first on, then each new one. Rows are folded in slices, one a frame, so that the page never stops to answer.
 */
import { type Client, HostError, type RunSnapshot } from '@cairn/client';
import { isTerminalType } from '@cairn/protocol';
import { FoldHistory } from '../folds/fold-history.ts';
import { type RunRow, rowOf } from '../folds/run-row.ts';
import { type Frames, pageFrames } from './frames.ts';

export interface RunData {
  /** All rows, once they are there; before, the last ones. The same object while rows are added. */
  readonly history: FoldHistory;
  /** Counts the changes of `history`. */
  readonly version: number;
  /** Whether `history` begins at the first row. */
  readonly isWhole: boolean;
  readonly snapshot: RunSnapshot | null;
  /** The last row that the host is known to have. */
  readonly headSeq: number;
  /** Rows that are known to exist and are not shown yet. */
  readonly behind: number;
  readonly phase: 'opening' | 'reading' | 'live' | 'ended' | 'broken' | 'failed';
  readonly error: unknown;
}

export type RunClient = Pick<Client, 'watch' | 'follow'> & {
  readonly runs: Pick<Client['runs'], 'get'>;
  readonly events: Pick<Client['events'], 'poll'>;
};

/** A run up to this length is read from its start; of a longer one, the last rows are shown first. */
const SHORT_RUN = 2_000;
const TAIL_ROWS = 400;
/** The time for folding in one frame. A frame has 16 ms. */
const SLICE_MS = 8;
/** The host sends what happens within this time together. */
const BUFFER_MS = 30;
const SNAPSHOT_MS = 500;
const SETTLE_MS = 1_000;
/** How often the time is looked at while folding. */
const ROWS_BETWEEN_LOOKS = 32;

export class RunSource {
  readonly #client: RunClient;
  readonly #runId: string;
  readonly #frames: Frames;
  readonly #listeners = new Set<() => void>();
  #connected: AbortController | null = null;
  #whole = new FoldHistory();
  #queue: RunRow[] = [];
  /** How far the queue is folded. */
  #taken = 0;
  #data: RunData;
  #isDrawn = true;
  #isSnapshotOld = false;
  /** The last row that the first snapshot covers. */
  #snapshotSeq = -1;

  constructor(client: RunClient, runId: string, frames: Frames = pageFrames) {
    this.#client = client;
    this.#runId = runId;
    this.#frames = frames;
    this.#data = {
      history: this.#whole,
      version: 0,
      isWhole: true,
      snapshot: null,
      headSeq: -1,
      behind: 0,
      phase: 'opening',
      error: null,
    };
  }

  readonly getSnapshot = (): RunData => this.#data;

  /** The connection is open while anybody is subscribed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener();
    this.#listeners.add(own);
    if (this.#connected === null) void this.#open(new AbortController());
    return () => {
      this.#listeners.delete(own);
      // A component that is mounted again at once, as in strict mode, finds the connection open.
      this.#frames.later(() => {
        if (this.#listeners.size > 0) return;
        this.#connected?.abort();
        this.#connected = null;
      });
    };
  };

  readonly retry = (): void => {
    this.#connected?.abort();
    void this.#open(new AbortController());
  };

  async #open(connected: AbortController): Promise<void> {
    this.#connected = connected;
    const { signal } = connected;
    try {
      for await (const { atSeq, ...snapshot } of this.#client.watch(this.#runId, { signal })) {
        this.#snapshotSeq = atSeq;
        this.#change({ snapshot, headSeq: Math.max(atSeq, this.#data.headSeq), phase: 'reading', error: null });
        break;
      }
      if (this.#data.headSeq - this.#whole.lastSeq > SHORT_RUN) await this.#showTail(signal);
      await this.#follow(signal);
    } catch (error) {
      if (!signal.aborted) this.#change({ phase: 'failed', error });
    }
  }

  /** The last rows, folded as if the run began with them. */
  async #showTail(signal: AbortSignal): Promise<void> {
    const after = this.#data.headSeq - TAIL_ROWS;
    const { events } = await this.#client.events.poll(this.#runId, { after, waitSeconds: 1, signal });
    const tail = new FoldHistory();
    for (const event of events) tail.take(rowOf(event));
    this.#change({ history: tail, isWhole: false });
    // They are drawn before the other rows arrive and take the time of the page.
    await this.#frames.drawn();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onBreak = (): void => {
      // Each try to connect that fails tells it again.
      if (this.#data.phase === 'failed' || this.#data.phase === 'broken' || signal.aborted) return;
      this.#change({ phase: 'broken' });
      void this.#awaitHost(signal);
    };
    const events = this.#client.follow(this.#runId, {
      after: this.#whole.lastSeq,
      bufferMs: BUFFER_MS,
      signal,
      onBreak,
    });
    for await (const event of events) {
      if (signal.aborted) return;
      const row = rowOf(event);
      this.#queue.push(row);
      if (row.seq > this.#snapshotSeq && isTransition(row.type)) this.#isSnapshotOld = true;
      this.#draw();
    }
    await this.#refreshSnapshot(signal);
  }

  /** A stream that is open again says nothing until something happens; a read tells that the host is back. */
  async #awaitHost(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#data.phase === 'broken') {
      await this.#frames.wait(SNAPSHOT_MS);
      if (await this.#refreshSnapshot(signal)) this.#change({ phase: 'live' });
    }
  }

  async #refreshSnapshot(signal: AbortSignal): Promise<boolean> {
    try {
      this.#change({ snapshot: await this.#client.runs.get(this.#runId, { signal, timeoutMs: 10_000 }) });
      return true;
    } catch (error) {
      // The stream tells why, and goes on when the host is back.
      if (error instanceof HostError && error.status < 500) this.#change({ error });
      return false;
    }
  }

  #draw(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#frames.next(() => {
      this.#isDrawn = true;
      this.#fold();
      if (this.#taken < this.#queue.length) this.#draw();
      else {
        this.#queue = [];
        this.#taken = 0;
      }
    });
  }

  /** Folds as many rows as a frame has time for, and tells the page once. */
  #fold(): void {
    const until = this.#frames.now() + SLICE_MS;
    while (this.#taken < this.#queue.length) {
      const row = this.#queue[this.#taken];
      if (row !== undefined) this.#whole.take(row);
      this.#taken += 1;
      if (this.#taken % ROWS_BETWEEN_LOOKS === 0 && this.#frames.now() >= until) break;
    }
    const { lastSeq } = this.#whole;
    const headSeq = Math.max(this.#data.headSeq, this.#queue.at(-1)?.seq ?? -1, lastSeq);
    const isWhole = this.#data.isWhole || lastSeq >= this.#data.headSeq;
    const hasEnded = isTerminalType(this.#whole.rows.at(-1)?.type ?? '');
    this.#change({
      history: isWhole ? this.#whole : this.#data.history,
      isWhole,
      headSeq,
      behind: headSeq - lastSeq,
      phase: hasEnded ? 'ended' : lastSeq < headSeq ? 'reading' : 'live',
    });
    if (this.#isSnapshotOld) this.#refreshSoon();
    if (lastSeq < headSeq && this.#taken === this.#queue.length) this.#settleSoon(lastSeq);
  }

  /** The last rows of a run may be for operators alone. If nothing more comes, what is here is all that this reader may see. */
  #settleSoon(lastSeq: number): void {
    void this.#frames.wait(SETTLE_MS).then(() => {
      if (this.#whole.lastSeq !== lastSeq || this.#taken < this.#queue.length || this.#data.phase !== 'reading') return;
      this.#change({ history: this.#whole, isWhole: true, headSeq: lastSeq, behind: 0, phase: 'live' });
    });
  }

  #refreshSoon(): void {
    this.#isSnapshotOld = false;
    const signal = this.#connected?.signal;
    if (signal !== undefined)
      void this.#frames.wait(SNAPSHOT_MS).then(() => signal.aborted || this.#refreshSnapshot(signal));
  }

  #change(changes: Partial<RunData>): void {
    this.#data = { ...this.#data, ...changes, version: this.#data.version + 1 };
    for (const listener of this.#listeners) listener();
  }
}

/** Rows after which the snapshot says something else that the header shows. */
const isTransition = (type: string): boolean =>
  type.startsWith('run.') ||
  type.startsWith('interrupt.') ||
  type === 'node.dispatched' ||
  type === 'core.workflowChain.event';
