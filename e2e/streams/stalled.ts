/**
 * One stalled subscriber beside a fast one: the fast one must not slow down, the host must not grow, and the stalled
 * one must lose nothing.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { NewRow } from '../../packages/host/src/log/ports/rows.ts';
import { FrameReader, type FrameSource } from './frame-reader.ts';
import { StreamHost } from './stream-host.ts';

export interface StalledResult {
  readonly events: number;
  /** Milliseconds to write and receive everything beside a stalled subscriber. */
  readonly besideMs: number;
  /** Bytes of heap and buffers after garbage collection, a quarter of the way through and at the end. */
  readonly early: number;
  readonly late: number;
  /** Frames the stalled subscriber had when it resumed, and at the end. */
  readonly asleep: number;
  readonly awake: number;
}

/** Rows per append. The readers catch up with every stage before the next begins. */
const APPEND = 100;
const STAGE = 5_000;

/** What is written, and where it is read. */
export interface StreamView {
  readonly rows: readonly NewRow[];
  source(host: StreamHost): FrameSource;
  /** Id of the newest frame. */
  newest(host: StreamHost): number;
}

const filled = (row: Pick<NewRow, 'type' | 'task'>, payloadOf: (i: number) => object): readonly NewRow[] =>
  Array.from({ length: APPEND }, (_, i) => ({
    at: 0,
    audience: 'client',
    payload: JSON.stringify(payloadOf(i)),
    ...row,
  }));

/** Every event of a run. */
const runView: StreamView = {
  rows: filled({ type: 'log.appended', task: null }, (i) => ({ level: 'info', message: `${i} ${'x'.repeat(120)}` })),
  source: ({ port, runId }) => ({ port, path: `/v1/runs/${runId}/events?streamMode=debug`, after: -1 }),
  newest: ({ last }) => last,
};

/** Text that a task writes, as the stream of its context shows it. */
export const taskView: StreamView = {
  rows: filled(
    {
      type: 'output.chunk',
      task: JSON.stringify({ kind: 'content-delta', delta: 'x'.repeat(120), index: 1, contentId: 'c' }),
    },
    () => ({ chunk: 'x'.repeat(120), isLast: false, channel: 'c' }),
  ),
  source: ({ port, contextId, cursor }) => ({
    port,
    path: `/api/contexts/${contextId}/stream?after=${cursor}`,
    after: cursor,
  }),
  newest: ({ cursor }) => cursor,
};

export async function stalledCampaign(events: number, view: StreamView = runView): Promise<StalledResult> {
  await using host = await StreamHost.open();
  const source = view.source(host);
  const fast = new FrameReader(source);
  const stalled = new FrameReader(source);
  await Promise.all([fast, stalled].map((reader) => reader.until(() => reader.last >= view.newest(host))));
  stalled.stall();
  let early = 0;
  const begin = performance.now();
  let collecting = 0;
  for (let written = 0; written < events; written += STAGE) {
    await stage(host, view, fast);
    if (written + STAGE < events / 4 || early > 0) continue;
    const before = performance.now();
    early = heldBytes();
    collecting = performance.now() - before;
  }
  const besideMs = performance.now() - begin - collecting;
  const late = heldBytes();
  const asleep = stalled.frames;
  stalled.wake();
  await stalled.until(() => stalled.last >= view.newest(host));
  await host.finish();
  await Promise.all([fast, stalled].map((reader) => reader.until(() => reader.last === view.newest(host))));
  for (const reader of [fast, stalled]) reader.close();
  for (const { fault } of [fast, stalled]) if (fault !== null) throw new Error(fault);
  return { events, besideMs, early, late, asleep, awake: stalled.frames };
}

/** Milliseconds for the same work with only the fast subscriber. */
export async function aloneMs(events: number, view: StreamView = runView): Promise<number> {
  await using host = await StreamHost.open();
  const fast = new FrameReader(view.source(host));
  await fast.until(() => fast.last >= view.newest(host));
  const begin = performance.now();
  for (let written = 0; written < events; written += STAGE) await stage(host, view, fast);
  const ms = performance.now() - begin;
  fast.close();
  return ms;
}

async function stage(host: StreamHost, view: StreamView, fast: FrameReader): Promise<void> {
  await Promise.all(Array.from({ length: STAGE / APPEND }, () => host.write(view.rows)));
  await fast.until(() => fast.last >= view.newest(host));
}

/** Bytes the process holds after a full garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}
