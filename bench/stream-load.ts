/** Commands of the host under test that write events for subscribers. */
import { setTimeout } from 'node:timers/promises';
import type { RunId } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import { present } from '../packages/host/test/kit/present.ts';
import type { MeasuredStore } from './measured-store.ts';
import { type Emitted, machineMs, paced, STREAM_PAYLOAD, STREAM_TYPE } from './stream-pace.ts';

export const streamCommands = (
  running: () => { readonly engine: Engine; readonly store: MeasuredStore },
  tenant: string,
) => ({
  /** Starts a run that waits for a person, so that only the benchmark writes to it. */
  waitingRun: async () => {
    const { engine, store } = running();
    const { runId } = await engine.start({ tenant, workflowId: 'bench-gate', inputs: {}, options: {} });
    return { runId, lastSeq: present(await store.log.head(runId)).seq };
  },

  emit: ({ runId, count, everyMs }: StreamLoad & { readonly everyMs: number }) =>
    emitted(running().store, runId, (append) => paced(count, everyMs, () => append(1))),

  /** The same one by one, with the time before each append: what a node takes until another one shows it. */
  emitSlowly: ({ runId, count, everyMs }: StreamLoad & { readonly everyMs: number }) =>
    emittedSlowly(running().store, { runId, count, everyMs }),

  /** Writes at full speed with several step-sized appends in flight, like a run with many branches. */
  burst: ({ runId, count }: StreamLoad) =>
    emitted(running().store, runId, async (append) => {
      for (let made = 0; made < count; made += BURST_ROWS * BURST_APPENDS) {
        await Promise.all(Array.from({ length: BURST_APPENDS }, () => append(BURST_ROWS)));
      }
    }),
});

interface StreamLoad {
  readonly runId: RunId;
  readonly count: number;
}

/** Rows per append and appends in flight during a burst. */
const BURST_ROWS = 4;
const BURST_APPENDS = 16;

/** Appends rows to a run and returns the commit time of each. */
async function emitted(
  { log }: MeasuredStore,
  runId: RunId,
  work: (append: (rows: number) => Promise<unknown>) => Promise<void>,
): Promise<Emitted> {
  const at: number[] = [];
  let firstSeq = -1;
  // The feed sends in a microtask, after every follower, including this one, has been notified.
  const stop = log.follow((commit) => {
    if (commit.runId !== runId) return;
    if (firstSeq < 0) firstSeq = present(commit.rows[0]).seq;
    const now = machineMs();
    for (let row = 0; row < commit.rows.length; row++) at.push(now);
  });
  const appends: Promise<unknown>[] = [];
  await work((rows) => {
    const row = { at: Date.now(), type: STREAM_TYPE, nodeId: 'gate', audience: 'client' as const, task: null };
    const done = log.append({ runId, rows: Array.from({ length: rows }, () => ({ ...row, payload: STREAM_PAYLOAD })) });
    appends.push(done);
    return done;
  });
  await Promise.all(appends);
  stop();
  return { firstSeq, at };
}

async function emittedSlowly(
  { log }: MeasuredStore,
  { runId, count, everyMs }: StreamLoad & { readonly everyMs: number },
): Promise<Emitted> {
  const at: number[] = [];
  let firstSeq = -1;
  const row = { type: STREAM_TYPE, nodeId: 'gate', audience: 'client' as const, task: null };
  for (let made = 0; made < count; made += 1) {
    await setTimeout(everyMs);
    at.push(machineMs());
    const { seq } = await log.append({ runId, rows: [{ ...row, at: Date.now(), payload: STREAM_PAYLOAD }] });
    if (firstSeq < 0) firstSeq = seq;
  }
  return { firstSeq, at };
}
