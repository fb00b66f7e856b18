/** The host under test: a real host in its own process that reports its resource use. */
import type { RunId } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import { defineStep } from '../packages/host/src/engine/workflow/define-step.ts';
import type { Commit } from '../packages/host/src/log/ports/event-log.ts';
import type { ConfigInput } from '../packages/host/src/server/config/config.ts';
import { createHostOver } from '../packages/host/src/server/create-host.ts';
import { present } from '../packages/host/test/kit/present.ts';
import { agentWorkflows, type BareTurns, bareTurns, benchAgents, benchTool } from './agent-load.ts';
import { type AgentTimes, startAgentRun } from './agent-run.ts';
import { cpuMs, serveCommands } from './child.ts';
import { fairnessCommands, fairnessWorkflows, neighbour } from './fairness-load.ts';
import { type MeasuredStore, openMeasuredPostgres, openMeasuredStore } from './measured-store.ts';
import { streamCommands } from './stream-load.ts';
import { taskCommands } from './task-load.ts';
import { treeCommands, treeWorkflows } from './tree-load.ts';
import { wakingCommands, wakingWorkflows } from './waking-load.ts';
import type { Target } from './watched-run.ts';
import { STEP_NAME, workflows } from './workflows.ts';

const TENANT = 'bench';
const KEY = 'bench-key-0123456789abcdef';
/** Number of steps at the end of a run whose times are reported. */
const LAST_STEPS = 150;

export interface TimedRun {
  readonly runId: RunId;
  readonly events: number;
  /** Events visible to an ordinary client. */
  readonly clientEvents: number;
  /** Time from the start call until the terminal event is durable. */
  readonly ms: number;
  /** Time between the results of consecutive steps, for the last steps of the run. */
  readonly lastStepsMs: readonly number[];
}

/** Returns about 220 bytes immediately. */
const step = defineStep({
  name: STEP_NAME,
  safety: 'idempotent',
  run: async () => ({ text: 'x'.repeat(200) }),
});

const config: ConfigInput = {
  port: 0,
  // The same for all nodes of a database.
  hostId: 'bench',
  // For the supervisors that follow a plan.
  conformance: true,
  keys: [{ key: KEY, tenant: TENANT, principal: 'bench' }, neighbour],
  tools: { allow: [benchTool.id] },
  // Above what any machine reaches, because the figures are about the machine.
  limits: {
    maxNodeExecutions: 1_000_000,
    maxRunsPerTree: 100_000,
    maxOpenStreamsPerKey: 4_000,
    maxOpenStreamsPerTenant: 4_000,
    maxStartsPerSecondPerTenant: 100_000,
  },
};

function hostCommands() {
  let running:
    | { readonly store: MeasuredStore; readonly engine: Engine; readonly close: () => Promise<void> }
    | undefined;
  let agentRun: Promise<AgentTimes> | undefined;
  return {
    /** `url` is that of the Postgres that holds the log instead of the folder. */
    serve: async ({ folder, url }: { readonly folder: string; readonly url?: string }): Promise<Target> => {
      const store = url === undefined ? await openMeasuredStore(folder) : await openMeasuredPostgres(url);
      const host = await createHostOver(store, {
        ...(url === undefined && { storeFolder: folder }),
        steps: [step],
        agents: benchAgents,
        tools: [benchTool],
        workflows: [...workflows, ...agentWorkflows, ...treeWorkflows, ...fairnessWorkflows, ...wakingWorkflows],
        config,
      });
      running = { store, engine: host.engine, close: () => host.close() };
      return { port: Number(new URL(present(host.url)).port), key: KEY };
    },

    /** Ends the host, so that this process can serve another store. */
    close: () => present(running).close(),

    usage: () => ({ cpuMs: cpuMs(), commits: present(running).store.stats().commits }),

    /** Heap in use after a full garbage collection. */
    heapBytes: (): number => {
      present(globalThis.gc)();
      present(globalThis.gc)();
      return process.memoryUsage().heapUsed;
    },

    ...streamCommands(() => present(running), TENANT),

    /** Starts an agent run. `agentTimes` waits for its end. */
    startAgent: async ({ workflowId }: { readonly workflowId: string }) => {
      const { engine, store } = present(running);
      const { runId, times } = await startAgentRun(engine, store, TENANT, workflowId);
      agentRun = times;
      return { runId };
    },

    agentTimes: () => present(agentRun),

    bareTurns: async (): Promise<BareTurns> => {
      // One uncounted extra pass warms up the JIT, as earlier runs did for the host.
      await bareTurns();
      return bareTurns();
    },

    ...treeCommands(() => present(running), TENANT),
    ...fairnessCommands(() => present(running).engine, TENANT),
    ...wakingCommands(() => present(running), TENANT),
    ...taskCommands(() => present(running).store, TENANT),

    timeRun: ({ workflowId }: { readonly workflowId: string }): Promise<TimedRun> =>
      timeRun(present(running).engine, present(running).store, workflowId),
  };
}

async function timeRun(engine: Engine, store: MeasuredStore, workflowId: string): Promise<TimedRun> {
  const ended = Promise.withResolvers<void>();
  const counts = new Map<string, { events: number; clientEvents: number }>();
  const stepTimes: number[] = [];
  let done = 0;
  const stop = store.log.follow((commit: Commit) => {
    const count = counts.get(commit.runId) ?? { events: 0, clientEvents: 0 };
    counts.set(commit.runId, count);
    for (const row of commit.rows) {
      count.events += 1;
      if (row.audience === 'client') count.clientEvents += 1;
      if (row.type === 'cairn.step.returned') stepTimes.push(performance.now());
      if (row.type !== 'run.completed' && row.type !== 'run.failed') continue;
      done = performance.now();
      if (row.type === 'run.completed') ended.resolve();
      else ended.reject(new Error(row.payload));
    }
  });
  const begin = performance.now();
  const { runId } = await engine.start({ tenant: TENANT, workflowId, inputs: {}, options: {} });
  await ended.promise;
  stop();
  const last = stepTimes.slice(-LAST_STEPS - 1);
  const lastStepsMs = last.slice(1).map((time, index) => time - present(last[index]));
  return { runId, ...present(counts.get(runId)), ms: done - begin, lastStepsMs };
}

export type HostCommands = ReturnType<typeof hostCommands>;

serveCommands(hostCommands());
