/** The load of a greedy tenant: runs that loop until they are cancelled, and the turns of the event loop meanwhile. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import { defineWorkflow } from '../packages/host/src/index.ts';
import { STEP_NAME } from './workflows.ts';

/** Another tenant of the same host. */
export const neighbour = { key: 'bench-key-of-a-neighbour-0', tenant: 'neighbour', principal: 'neighbour' };

/** More iterations than a run reaches before it is cancelled. */
const ENDLESS = 400_000;

const INTERVAL_MS = 1;

const loopOver = (id: string, type: string, config = {}): WorkflowDefinition =>
  defineWorkflow({
    id,
    version: '1',
    nodes: {
      again: { type: 'core.loop', config: { times: ENDLESS } },
      body: { type, config },
      end: { type: 'core.noop' },
    },
    edges: [
      { from: 'again', to: 'body', port: 'body' },
      { from: 'body', to: 'again' },
      { from: 'again', to: 'end', port: 'done' },
    ],
  });

/** What a greedy tenant loops over: pure nodes, steps that return at once, or the shortest delays. */
export const greedyLoops = ['bench-greedy-pure', 'bench-greedy-steps', 'bench-greedy-delays'] as const;

const sixDelays = Array.from({ length: 6 }, (_, n) => `delay-${n + 1}`);

export const fairnessWorkflows: readonly WorkflowDefinition[] = [
  loopOver('bench-greedy-pure', 'core.noop'),
  loopOver('bench-greedy-steps', `local.step.${STEP_NAME}`),
  loopOver('bench-greedy-delays', 'core.delay', { delayMs: 1 }),
  defineWorkflow({ id: 'bench-small', version: '1', nodes: { only: { type: 'core.noop' } } }),
  defineWorkflow({
    id: 'bench-six-delays',
    version: '1',
    nodes: Object.fromEntries(sixDelays.map((id) => [id, { type: 'core.delay', config: { delayMs: 10 } }])),
  }),
];

export const fairnessCommands = (engine: () => Engine, tenant: string) => {
  let loops: readonly RunId[] = [];
  let turns: ReturnType<typeof monitorEventLoopDelay> | null = null;
  return {
    startLoops: async ({ workflowIds, count }: { readonly workflowIds: readonly string[]; readonly count: number }) => {
      const start = (_: unknown, n: number) =>
        engine().start({ tenant, workflowId: workflowIds[n % workflowIds.length] ?? '', inputs: {}, options: {} });
      const started = await Promise.all(Array.from({ length: count }, start));
      loops = started.map(({ runId }) => runId);
    },

    /** Cancels the loops. Returns how many were still at it. */
    stopLoops: async (): Promise<number> => {
      const views = await Promise.all(loops.map((runId) => engine().snapshot(tenant, runId)));
      await Promise.all(loops.map((runId) => engine().cancel({ tenant, runId })));
      return views.filter(({ status }) => status === 'running').length;
    },

    watchTurns: () => {
      turns = monitorEventLoopDelay({ resolution: INTERVAL_MS });
      turns.enable();
    },

    /** How late the event loop was, in ms, since `watchTurns`. */
    turnDelays: () => {
      turns?.disable();
      // Node counts the interval between two samples as part of the delay.
      const ms = (value: number | undefined) => Math.max(0, (value ?? Number.NaN) / 1e6 - INTERVAL_MS);
      return { p50: ms(turns?.percentile(50)), p99: ms(turns?.percentile(99)), max: ms(turns?.max) };
    },
  };
};
