/**
 * Figures for whole runs over HTTP: ten steps, each recorded before the next starts, from create to the terminal event.
 */
import { type Arena, type Cost, costOf, type Hollow, openArena, openHollow } from './arena.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { LoadResult } from './load.ts';
import type { Group, Plan } from './plan.ts';
import type { Target } from './watched-run.ts';

const WORKFLOW = 'bench-ten-steps';

/** More rounds than elsewhere: a round takes a second or two, and one disturbed round must not decide the figure. */
const ROUNDS = 7;

export const runGroup: Group = {
  name: 'runs',
  about: 'ten-step runs over HTTP, from create to the terminal event',
  figures: ['runs-c16', 'runs-c64', 'run-cpu-c16', 'run-cpu-c64', 'run-latency-c1'],
  run: runFigures,
};

interface Side extends LoadResult {
  readonly cost: Cost;
  readonly count: number;
}

interface Round {
  readonly host: Side;
  readonly hollow: Side;
}

async function runFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await using hollow = await openHollow(plan, arena, WORKFLOW);
  plan.progress(`  a run: ${hollow.shape.rows.rows.length} rows in ${hollow.shape.commits.length} dependent commits`);
  // Refuses to measure a host that loses, repeats or reorders an event. CPU per run falls until the JIT is done, which
  // `--trace-opt` shows to be after 11,000 runs: 68 functions from 10,000 to 11,000, then one to eight in each
  // thousand.
  const checked = { workflowId: WORKFLOW, concurrency: 16, count: plan.quick ? 300 : 12_000 };
  for (const { target } of [{ target: arena.hostTarget }, hollow]) {
    await arena.load.ask('watchedRuns', { target, ...checked });
  }
  const counts = plan.quick ? { 1: 50, 16: 200, 64: 200 } : { 1: 400, 16: 2000, 64: 2000 };
  const rounds: Record<1 | 16 | 64, Round[]> = { 1: [], 16: [], 64: [] };
  for (let round = 0; round < (plan.quick ? plan.rounds : ROUNDS); round++) {
    for (const concurrency of [16, 64, 1] as const) {
      const taken = await oneRound(plan, arena, hollow, { concurrency, count: counts[concurrency] });
      rounds[concurrency].push(taken);
      plan.progress(`  c=${concurrency}: host ${sideText(taken.host)}; hollow ${sideText(taken.hollow)}`);
    }
  }
  return [
    rateFigure('runs-c16', rounds[16]),
    rateFigure('runs-c64', rounds[64]),
    cpuFigure('run-cpu-c16', rounds[16]),
    cpuFigure('run-cpu-c64', rounds[64]),
    latencyFigure(rounds[1]),
  ];
}

async function oneRound(
  plan: Plan,
  arena: Arena,
  hollow: Hollow,
  load: { readonly concurrency: number; readonly count: number },
): Promise<Round> {
  const drive = async (server: Parameters<typeof costOf>[1], target: Target): Promise<Side> => {
    const { result, cost } = await costOf(plan, server, () =>
      arena.load.ask('runs', { target, workflowId: WORKFLOW, ...load }),
    );
    return { ...result, cost, count: load.count };
  };
  return { host: await drive(arena.host, arena.hostTarget), hollow: await drive(hollow.server, hollow.target) };
}

function rateFigure(name: string, rounds: readonly Round[]): Figure {
  return {
    name,
    unit: 'runs/s',
    limitName: 'hollow server, the same rows group-committed',
    bar: { of: 'ratio', is: '>=', amount: 0.5 },
    samples: rounds.map(({ host, hollow }): Sample => ({ value: host.perSecond, limit: hollow.perSecond })),
    durability: totalDurability(rounds.map(({ host }) => host.cost)),
    notes: clientNotes(rounds),
  };
}

function cpuFigure(name: string, rounds: readonly Round[]): Figure {
  const perRun = (side: Side) => side.cost.cpuMs / side.count;
  return {
    name,
    unit: 'ms CPU/run',
    limitName: 'hollow server',
    bar: { of: 'value', is: '<', amount: 1.2 },
    samples: rounds.map(({ host, hollow }): Sample => ({ value: perRun(host), limit: perRun(hollow) })),
  };
}

function latencyFigure(rounds: readonly Round[]): Figure {
  return {
    name: 'run-latency-c1',
    unit: 'ms p50',
    limitName: 'hollow server, the same dependent commits',
    bar: { of: 'ratio', is: '<=', amount: 1.4 },
    samples: rounds.map(({ host, hollow }): Sample => ({ value: host.p50Ms, limit: hollow.p50Ms })),
    durability: totalDurability(rounds.map(({ host }) => host.cost)),
  };
}

/** A client without a spare core makes the slower server look better; the note says so. */
function clientNotes(rounds: readonly Round[]): readonly string[] {
  const cores = Math.max(...rounds.flatMap(({ host, hollow }) => [host.clientCores, hollow.clientCores]));
  return cores < 0.9 ? [] : [`the load generator used up to ${cores.toFixed(2)} cores`];
}

function sideText(side: Side): string {
  const perRun = (side.cost.cpuMs / side.count).toFixed(2);
  const commits = (side.cost.commits / side.count).toFixed(1);
  const latency = `p50 ${side.p50Ms.toFixed(1)} p99 ${side.p99Ms.toFixed(1)} ms`;
  return `${Math.round(side.perSecond)} runs/s, ${latency}, ${perRun} ms CPU/run, ${commits} commits/run`;
}
