/** Runs that do little but wait: what a wake costs the host, and how late it is. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import { defineWorkflow } from '../packages/host/src/index.ts';
import { cpuMs } from './child.ts';
import type { MeasuredStore } from './measured-store.ts';

/** One delay after the other, so that the run wakes once for each node. */
function delays(id: string, count: number, delayMs: number): WorkflowDefinition {
  const names = Array.from({ length: count }, (_, n) => `delay-${n + 1}`);
  const nodes = Object.fromEntries(names.map((name) => [name, { type: 'core.delay', config: { delayMs } }]));
  return defineWorkflow({ id, version: '1', nodes });
}

export const FEW_NODES = 10;
export const MANY_NODES = 2_000;

export const wakingWorkflows: readonly WorkflowDefinition[] = [
  delays('bench-delays-few', FEW_NODES, 1),
  delays('bench-delays-many', MANY_NODES, 1),
  delays('bench-delays-quiet', 100, 7),
  delays('bench-delay-rested', 1, 1_300),
];

export interface Waking {
  readonly wakes: number;
  /** CPU of the host from the first wake to the last, so that starting and ending the run do not count. */
  readonly cpuMs: number;
  /** From the time a timer was set for to the time its row is durable. */
  readonly lateMs: readonly number[];
}

export const wakingCommands = (
  running: () => { readonly engine: Engine; readonly store: MeasuredStore },
  tenant: string,
) => ({
  /** Starts `count` runs, one every `everyMs`, or one after the other. */
  wake: async (load: { readonly workflowId: string; readonly count: number; readonly everyMs?: number }) => {
    const { engine, store } = running();
    const watched = watchWakes(store);
    const start = () => engine.start({ tenant, workflowId: load.workflowId, inputs: {}, options: {} });
    for (let n = 0; n < load.count; n++) {
      const { runId } = await start();
      if (load.everyMs === undefined) await watched.ended(runId);
      else await sleep(load.everyMs);
    }
    await watched.allEnded(load.count);
    return watched.result();
  },

  /** How late bare timers of this process are. */
  bareTimers: async ({ count, delayMs }: { readonly count: number; readonly delayMs: number }) => {
    const late: number[] = [];
    for (let n = 0; n < count; n++) {
      const due = Date.now() + delayMs;
      await sleep(delayMs);
      late.push(preciseNow() - due);
    }
    return late;
  },
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Milliseconds since the epoch, with fractions. */
const preciseNow = () => performance.timeOrigin + performance.now();

function watchWakes({ log }: MeasuredStore) {
  const fireAt = new Map<string, number>();
  const firstCpu = new Map<RunId, number>();
  const lastCpu = new Map<RunId, number>();
  const over = new Map<RunId, PromiseWithResolvers<void>>();
  const lateMs: number[] = [];
  const all = Promise.withResolvers<void>();
  let ended = 0;
  let awaited = Number.POSITIVE_INFINITY;
  const overOf = (runId: RunId) => {
    const known = over.get(runId) ?? Promise.withResolvers<void>();
    over.set(runId, known);
    return known;
  };
  const stop = log.follow(({ runId, rows }) => {
    const now = preciseNow();
    for (const { type, payload } of rows) {
      if (type === 'cairn.timer.set') {
        const set: { readonly timerId: string; readonly fireAt: string } = JSON.parse(payload);
        fireAt.set(runId + set.timerId, Date.parse(set.fireAt));
      } else if (type === 'cairn.timer.fired') {
        const { timerId }: { readonly timerId: string } = JSON.parse(payload);
        lateMs.push(now - (fireAt.get(runId + timerId) ?? Number.NaN));
        const cpu = cpuMs();
        if (!firstCpu.has(runId)) firstCpu.set(runId, cpu);
        lastCpu.set(runId, cpu);
      } else if (type === 'run.completed') {
        ended += 1;
        overOf(runId).resolve();
        if (ended === awaited) all.resolve();
      } else if (type === 'run.failed') all.reject(new Error(payload));
    }
  });
  return {
    ended: (runId: RunId) => Promise.race([overOf(runId).promise, all.promise]),
    allEnded: (count: number) => {
      awaited = count;
      return ended === count ? Promise.resolve() : all.promise;
    },
    result: (): Waking => {
      stop();
      let cpu = 0;
      for (const [runId, first] of firstCpu) cpu += (lastCpu.get(runId) ?? first) - first;
      return { wakes: lateMs.length - firstCpu.size, cpuMs: cpu, lateMs };
    },
  };
}
