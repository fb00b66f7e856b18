/** The measured trees of runs: a supervisor with a plan, and workers with no work. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import { defineWorkflow } from '../packages/host/src/index.ts';
import type { MeasuredStore } from './measured-store.ts';

/** Concurrent workers per decision. */
const FAN_OUT = 100;
const WORKER = 'bench-worker';

/** Runs below one root. The config of a supervisor has at most 5,000 values, and its plan names each run. */
export const treeSizes = { small: 10, one: FAN_OUT, quick: 1_000, full: 4_000 } as const;

const worker = defineWorkflow({ id: WORKER, version: '1', nodes: { work: { type: 'core.noop' } } });

const treeOf = (size: number): string => `bench-tree-${size}`;

function tree(size: number): WorkflowDefinition {
  const decisions = Array.from({ length: Math.ceil(size / FAN_OUT) }, () => ({
    kind: 'next-worker' as const,
    nextWorkerIds: Array.from({ length: Math.min(size, FAN_OUT) }, () => WORKER),
  }));
  return defineWorkflow({
    id: treeOf(size),
    version: '1',
    nodes: {
      supervisor: { type: 'core.orchestrator.supervisor', config: { mockDispatchPlan: decisions } },
      dispatch: { type: 'core.dispatch', config: { fanOutPolicy: 'parallel' } },
    },
    edges: [
      { from: 'supervisor', to: 'dispatch' },
      { from: 'dispatch', to: 'supervisor' },
    ],
  });
}

export const treeWorkflows: readonly WorkflowDefinition[] = [worker, ...Object.values(treeSizes).map(tree)];

interface Host {
  readonly engine: Engine;
  readonly store: MeasuredStore;
}

interface TimedTree {
  /** Runs started below the root that have ended. */
  readonly children: number;
  /** Time from the call that starts the root until its terminal event is durable. */
  readonly ms: number;
}

/** Times a tree from the start of its root to its end. */
async function timeTree({ engine, store }: Host, tenant: string, size: number): Promise<TimedTree> {
  const ended = Promise.withResolvers<number>();
  let root: RunId | undefined;
  const early = new Map<RunId, number>();
  let children = 0;
  const stop = store.log.follow(({ runId, rows }) => {
    const last = rows.at(-1);
    if (last?.type === 'run.failed') ended.reject(new Error(last.payload));
    if (last?.type !== 'run.completed') return;
    if (runId.includes('.')) children += 1;
    else if (runId === root) ended.resolve(performance.now());
    else early.set(runId, performance.now());
  });
  const begin = performance.now();
  try {
    ({ runId: root } = await engine.start({ tenant, workflowId: treeOf(size), inputs: {}, options: {} }));
    const done = early.get(root) ?? (await ended.promise);
    return { children, ms: done - begin };
  } finally {
    stop();
  }
}

/** Times the same number of worker runs without a supervisor, at the same concurrency. */
async function timeWorkers({ engine, store }: Host, tenant: string, count: number): Promise<number> {
  const ended = Promise.withResolvers<void>();
  let left = count;
  const stop = store.log.follow(({ rows }) => {
    if (rows.at(-1)?.type === 'run.completed' && --left === 0) ended.resolve();
  });
  const begin = performance.now();
  for (let made = 0; made < count; made += FAN_OUT) {
    const batch = Math.min(FAN_OUT, count - made);
    const start = () => engine.start({ tenant, workflowId: WORKER, inputs: {}, options: {} });
    await Promise.all(Array.from({ length: batch }, start));
  }
  await ended.promise;
  stop();
  return performance.now() - begin;
}

/** Tree commands of the measured host. */
export const treeCommands = (host: () => Host, tenant: string) => ({
  /** Runs trees of one size, one after the other. Returns the total of their runs and the total time. */
  timeTree: async ({ size, times }: { readonly size: number; readonly times: number }): Promise<TimedTree> => {
    let children = 0;
    let ms = 0;
    for (let n = 0; n < times; n++) {
      const tree = await timeTree(host(), tenant, size);
      children += tree.children;
      ms += tree.ms;
    }
    return { children, ms };
  },

  timeWorkers: ({ count }: { readonly count: number }): Promise<number> => timeWorkers(host(), tenant, count),
});
