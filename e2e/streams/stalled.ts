/**
 * One stalled subscriber beside a fast one: the fast one must not slow down, the host must not grow, and the stalled
 * one must lose nothing.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { NewRow } from '../../packages/host/src/log/ports/rows.ts';
import { FrameReader } from './frame-reader.ts';
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

const rows: readonly NewRow[] = Array.from({ length: APPEND }, (_, i) => ({
  at: 0,
  type: 'log.appended',
  audience: 'client',
  payload: JSON.stringify({ level: 'info', message: `${i} ${'x'.repeat(120)}` }),
  task: null,
}));

export async function stalledCampaign(events: number): Promise<StalledResult> {
  await using host = await StreamHost.open();
  const fast = new FrameReader(host);
  const stalled = new FrameReader(host);
  await Promise.all([fast, stalled].map((reader) => reader.until(() => reader.last >= host.last)));
  stalled.stall();
  let early = 0;
  const begin = performance.now();
  let collecting = 0;
  for (let written = 0; written < events; written += STAGE) {
    await stage(host, fast);
    if (written + STAGE < events / 4 || early > 0) continue;
    const before = performance.now();
    early = heldBytes();
    collecting = performance.now() - before;
  }
  const besideMs = performance.now() - begin - collecting;
  const late = heldBytes();
  const asleep = stalled.frames;
  stalled.wake();
  await stalled.until(() => stalled.last >= host.last);
  await host.finish();
  await Promise.all([fast, stalled].map((reader) => reader.until(() => reader.last === host.last)));
  for (const { fault } of [fast, stalled]) if (fault !== null) throw new Error(fault);
  return { events, besideMs, early, late, asleep, awake: stalled.frames };
}

/** Milliseconds for the same work with only the fast subscriber. */
export async function aloneMs(events: number): Promise<number> {
  await using host = await StreamHost.open();
  const fast = new FrameReader(host);
  await fast.until(() => fast.last >= host.last);
  const begin = performance.now();
  for (let written = 0; written < events; written += STAGE) await stage(host, fast);
  const ms = performance.now() - begin;
  fast.close();
  return ms;
}

async function stage(host: StreamHost, fast: FrameReader): Promise<void> {
  await Promise.all(Array.from({ length: STAGE / APPEND }, () => host.write(rows)));
  await fast.until(() => fast.last >= host.last);
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
