/** Exports spans from the log by a durable position. Spans missed in an outage go out later; memory stays bounded. */
import { foldEventOf, type RunId } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { LruMap } from '../../lru-map.ts';
import { hostInstruments } from '../instruments.ts';
import { readMembers } from '../json-members.ts';
import type { Recorder } from '../meter.ts';
import type { Outage } from '../outage.ts';
import { isSampled } from '../trace-context.ts';
import type { RunSpan } from './span-model.ts';
import { isPiece, SpanFold } from './spans.ts';

/** Accepts spans. `refused` means that it will never accept these. Rejects when it is unreachable. */
export type SpanSink = (spans: readonly RunSpan[]) => Promise<'taken' | 'refused'>;

export interface SpanExportPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'checkpoints'>;
  readonly sink: SpanSink;
  /** The share of locally started traces that are exported. */
  readonly share: number;
  readonly outage: Outage;
  readonly recorder: Recorder;
  readonly timers: Timers;
  readonly now: () => number;
  /** Nodes with open spans of all cached runs. Default 50,000. */
  readonly maxOpenNodes?: number;
}

/** The name under which the position is saved. */
const READER = 'otel.spans';
/** Commits within this time are exported together. */
const GATHER_MS = 1_000;
const PAGE_ROWS = 500;
const PAGE_BYTES = 524_288;
/** Spans per request to the collector. */
const BATCH = 512;
/** Runs whose open spans are cached; others are folded again from their first row when they continue. */
const MAX_RUNS = 1_000;
/** Nodes with open spans, at about a kilobyte each. A run can have thousands. */
const MAX_OPEN_NODES = 50_000;
/** Spans that ended earlier are dropped: after a long outage the newest matter, and collectors reject old ones. */
const MAX_AGE_MS = 86_400_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
/** Time limit for the last export when the host stops. */
const CLOSE_WITHIN_MS = 2_000;

export class SpanExport {
  readonly #ports: SpanExportPorts;
  /** Null for a run that is not sampled. */
  readonly #folds = new LruMap<RunId, SpanFold | null>(MAX_RUNS);
  readonly #unfollow: () => void;
  readonly #done: Promise<void>;
  #onNews: () => void = nothing;
  #onClose: () => void = nothing;
  #news = true;
  #closing = false;
  #abandoned = false;
  #closed: Promise<void> | null = null;
  #oldestAt: number | null = null;

  constructor(ports: SpanExportPorts) {
    this.#ports = ports;
    this.#unfollow = ports.store.log.follow(() => {
      if (this.#news) return;
      this.#news = true;
      this.#onNews();
    });
    this.#done = this.#run();
  }

  /** Age of the oldest event that waits for export, in ms. */
  get behindMs(): number {
    return this.#oldestAt === null ? 0 : Math.max(this.#ports.now() - this.#oldestAt, 0);
  }

  /** Exports pending spans if the collector accepts them in time; the rest is exported after the next start. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing = true;
    this.#unfollow();
    this.#onNews();
    this.#onClose();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ports.timers.after(CLOSE_WITHIN_MS, resolve);
    await Promise.race([this.#done, promise]);
    cancel();
    this.#abandoned = true;
  }

  async #run(): Promise<void> {
    const { outage } = this.#ports;
    let retryMs = FIRST_RETRY_MS;
    while (!(this.#closing && outage.isOn)) {
      const isLast = this.#closing;
      try {
        this.#news = false;
        await this.#drain(await this.#begin());
        this.#oldestAt = null;
        retryMs = FIRST_RETRY_MS;
        if (isLast) return;
        await this.#commit();
        await this.#sleep(GATHER_MS);
      } catch (error) {
        if (this.#abandoned) return;
        outage.begin(error);
        // The rows are read again: the saved position is that of the last success.
        this.#folds.clear();
        await this.#sleep(retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  /** The position after the last export; for the first export ever, the end of the log. */
  async #begin(): Promise<string> {
    const { changes, checkpoints } = this.#ports.store;
    const known = await checkpoints.position(READER);
    if (known !== null) return known;
    const end = await changes.end();
    await checkpoints.putPosition(READER, end);
    return end;
  }

  /** Exports page by page up to the end of the log. */
  async #drain(from: string): Promise<void> {
    const { changes, checkpoints } = this.#ports.store;
    for (let position = from; !this.#abandoned; ) {
      const page = await changes.read({ after: position, limit: PAGE_ROWS, maxBytes: PAGE_BYTES, filter: null });
      if (page.position === position) return;
      this.#oldestAt = page.rows[0]?.at ?? this.#oldestAt;
      const spans: RunSpan[] = [];
      for (const row of page.rows) spans.push(...(await this.#take(row)));
      this.#forgetLarge();
      await this.#deliver(spans);
      position = page.position;
      await checkpoints.putPosition(READER, position);
    }
  }

  async #deliver(spans: readonly RunSpan[]): Promise<void> {
    const { sink, recorder, now, outage } = this.#ports;
    const since = now() - MAX_AGE_MS;
    const fresh = spans.filter(({ endedAt }) => (endedAt ?? since) >= since);
    if (fresh.length < spans.length)
      recorder.add(hostInstruments.spansExported, ['too-old'], spans.length - fresh.length);
    for (let start = 0; start < fresh.length; start += BATCH) {
      const batch = fresh.slice(start, start + BATCH);
      const answer = await sink(batch);
      recorder.add(hostInstruments.spansExported, [answer], batch.length);
      if (answer === 'taken') outage.end();
      else outage.begin(new Error('The collector refused spans as malformed or too large; they are given up.'));
    }
  }

  async #take(row: Row): Promise<readonly RunSpan[]> {
    // No span shows them, so they are not parsed.
    if (isPiece(row.type)) return [];
    const fold = await this.#foldOf(row);
    if (fold === null) return [];
    const spans = fold.take(foldEventOf(row));
    if (fold.isOver) this.#folds.delete(row.runId);
    return spans;
  }

  /** The fold of a run up to a row; on a cache miss it is rebuilt from the run's first row. */
  async #foldOf(row: Row): Promise<SpanFold | null> {
    const { runId, seq } = row;
    const known = this.#folds.get(runId);
    return known === undefined ? this.#folds.set(runId, await this.#refold(runId, seq, row)) : known;
  }

  async #refold(runId: RunId, before: number, row: Row): Promise<SpanFold | null> {
    const { log } = this.#ports.store;
    const read = (after: number, limit: number) =>
      log.read({ runId, after, limit, maxBytes: PAGE_BYTES, isForFrames: true });
    const first = before === 0 ? row : (await read(-1, 1))[0];
    const [traceparent] = readMembers(first?.payload ?? '', ['traceparent']);
    const record = (await log.head(runId))?.record ?? null;
    // A fork is in a trace of its own.
    const isCallers = typeof traceparent === 'string' && record?.fork == null;
    if (!isSampled(runId, isCallers ? traceparent : undefined, this.#ports.share)) return null;
    const fold = new SpanFold(runId, record);
    for (let next = 0; next < before; ) {
      const rows = await read(next - 1, Math.min(PAGE_ROWS, before - next));
      if (rows.length === 0) return fold;
      for (const earlier of rows) if (!isPiece(earlier.type)) fold.take(foldEventOf(earlier));
      next += rows.length;
    }
    return fold;
  }

  /** Drops the least recently used folds beyond the limit. */
  #forgetLarge(): void {
    const { maxOpenNodes = MAX_OPEN_NODES } = this.#ports;
    let nodes = 0;
    for (const [runId, fold] of [...this.#folds].reverse()) {
      nodes += fold?.openNodes ?? 0;
      if (nodes > maxOpenNodes) this.#folds.delete(runId);
    }
  }

  /** Runs whose open spans are in memory. */
  get cachedRuns(): number {
    return this.#folds.size;
  }

  /** Waits for the next commit. */
  #commit(): Promise<void> {
    if (this.#news || this.#closing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onNews = resolve;
    });
  }

  #sleep(ms: number): Promise<void> {
    if (this.#closing) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#ports.timers.after(ms, resolve);
      this.#onClose = () => {
        cancel();
        resolve();
      };
    });
  }
}

const nothing = (): void => undefined;
