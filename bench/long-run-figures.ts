/** Figures for one very long run: the cost of an event, a step, a snapshot and a read must not grow with the run. */
import { join } from 'node:path';
import { present } from '../packages/host/test/kit/present.ts';
import { type Arena, costOf, openArena } from './arena.ts';
import { Child } from './child.ts';
import { type Durability, type Figure, type Sample, totalDurability } from './figure.ts';
import type { ReaderCommands } from './hollow-reader.ts';
import type { TimedRun } from './host.ts';
import type { Group, Plan } from './plan.ts';
import { median } from './statistics.ts';
import type { Target } from './watched-run.ts';

const SHORT = 1_000;
/** A difference under this is noise on a shared machine. */
const FLAT = 1.2;

export const longRunGroup: Group = {
  name: 'long-run',
  about: 'one run of 100,000 events beside runs of 1,000',
  figures: ['long-run-rate', 'long-run-step', 'long-run-snapshot', 'long-run-catch-up', 'long-run-poll'],
  run: longRunFigures,
};

async function longRunFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  const long = plan.quick ? 10_000 : 100_000;
  await timeRuns(arena, `bench-loop-${SHORT}`, 20);
  await timeRuns(arena, `bench-step-loop-${SHORT}`, 5);
  const { figure: rate, longRun, shortRun } = await rateFigure(plan, arena, long);
  const step = await stepFigure(plan, arena, long);
  await using reader = new Child<ReaderCommands>(new URL('./hollow-reader.ts', import.meta.url));
  const port = await reader.ask('serve', { file: join(arena.hostFolder, 'cairn.db'), runId: longRun.runId });
  const reads: Reads = { plan, arena, longRun, shortRun, bare: { port, key: 'none' } };
  return [rate, step, await snapshotFigure(reads), await catchUpFigure(reads), await pollFigure(reads)];
}

interface Reads {
  readonly plan: Plan;
  readonly arena: Arena;
  readonly longRun: TimedRun;
  readonly shortRun: TimedRun;
  readonly bare: Target;
}

/** Runs one after the other. Returns the last run, and the events per second over all. */
async function timeRuns(arena: Arena, workflowId: string, count: number) {
  let run: TimedRun | undefined;
  let events = 0;
  let ms = 0;
  const stepMs: number[] = [];
  for (let n = 0; n < count; n++) {
    run = await arena.host.ask('timeRun', { workflowId });
    events += run.events;
    ms += run.ms;
    stepMs.push(...run.lastStepsMs);
  }
  return { run: present(run), perSecond: (events / ms) * 1000, stepMs: median(stepMs) };
}

async function rateFigure(plan: Plan, arena: Arena, long: number) {
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  let longRun: TimedRun | undefined;
  let shortRun: TimedRun | undefined;
  for (let round = 0; round < plan.rounds; round++) {
    const short = await timeRuns(arena, `bench-loop-${SHORT}`, plan.quick ? 10 : 50);
    const { result, cost } = await costOf(plan, arena.host, () => timeRuns(arena, `bench-loop-${long}`, 1));
    samples.push({ value: result.perSecond, limit: short.perSecond });
    durability.push(cost);
    longRun = result.run;
    shortRun = short.run;
    plan.progress(
      `  events/s: ${Math.round(result.perSecond)} in a long run, ${Math.round(short.perSecond)} in short ones`,
    );
  }
  const figure: Figure = {
    name: 'long-run-rate',
    unit: 'events/s',
    limitName: `runs of ${SHORT} events`,
    bar: { of: 'ratio', is: '>=', amount: 0.9 },
    samples,
    durability: totalDurability(durability),
  };
  return { figure, longRun: present(longRun), shortRun: present(shortRun) };
}

/** Compares the last steps of a long run with those of short runs. Each step has its own durable commit. */
async function stepFigure(plan: Plan, arena: Arena, long: number): Promise<Figure> {
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const { result, cost } = await costOf(plan, arena.host, () => timeRuns(arena, `bench-step-loop-${long}`, 1));
    const short = await timeRuns(arena, `bench-step-loop-${SHORT}`, 5);
    samples.push({ value: result.stepMs, limit: short.stepMs });
    durability.push(cost);
    plan.progress(
      `  a step: ${result.stepMs.toFixed(3)} ms late in a long run, ${short.stepMs.toFixed(3)} in short ones`,
    );
  }
  return {
    name: 'long-run-step',
    unit: 'ms p50',
    limitName: `a step of a run of ${SHORT} events`,
    bar: { of: 'ratio', is: '<=', amount: FLAT },
    samples,
    durability: totalDurability(durability),
  };
}

async function snapshotFigure({ plan, arena, longRun, shortRun }: Reads): Promise<Figure> {
  const count = plan.quick ? 100 : 500;
  const read = (run: TimedRun) =>
    arena.load.ask('reads', { target: arena.hostTarget, path: `/v1/runs/${run.runId}`, count });
  await read(shortRun);
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const long = await read(longRun);
    const short = await read(shortRun);
    samples.push({ value: long.p50Ms, limit: short.p50Ms });
  }
  return {
    name: 'long-run-snapshot',
    unit: 'ms p50',
    limitName: `snapshot of a run of ${SHORT} events`,
    bar: { of: 'ratio', is: '<=', amount: FLAT },
    samples,
  };
}

async function catchUpFigure({ plan, arena, longRun, bare }: Reads): Promise<Figure> {
  const rate = async (target: Target, path: string) => {
    const { events, ms } = await arena.load.ask('stream', { target, path });
    // A missing event invalidates the figure.
    return events === longRun.clientEvents ? (events / ms) * 1000 : Number.NaN;
  };
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds + 1; round++) {
    const value = await rate(arena.hostTarget, `/v1/runs/${longRun.runId}/events?streamMode=debug`);
    const limit = await rate(bare, '/events');
    if (round === 0 && !plan.quick) continue;
    samples.push({ value, limit });
    plan.progress(`  catch-up: ${Math.round(value)} of ${Math.round(limit)} events/s`);
  }
  return {
    name: 'long-run-catch-up',
    unit: 'events/s',
    limitName: 'the same rows read by node:sqlite and sent by node:http',
    bar: { of: 'value', is: '>=', amount: 200_000 },
    samples,
  };
}

async function pollFigure({ plan, arena, longRun, bare }: Reads): Promise<Figure> {
  const count = plan.quick ? 100 : 500;
  const after = longRun.events - 11;
  const read = (target: Target, path: string) => arena.load.ask('reads', { target, path, count });
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const host = await read(arena.hostTarget, `/v1/runs/${longRun.runId}/events/poll?lastSequence=${after}&timeout=1`);
    const limit = await read(bare, `/after/${after}`);
    const events = (JSON.parse(host.body) as { readonly events: readonly unknown[] }).events.length;
    samples.push({ value: events === 10 ? host.p50Ms : Number.NaN, limit: limit.p50Ms });
  }
  return {
    name: 'long-run-poll',
    unit: 'ms p50',
    limitName: 'the same rows read by node:sqlite and sent by node:http',
    bar: { of: 'value', is: '<', amount: 1.5 },
    samples,
  };
}
