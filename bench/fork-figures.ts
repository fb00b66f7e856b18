/** Figures for forks: one late in a long run begins at once, and the state at any event of it is near. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Store } from '../packages/host/src/log/ports/store.ts';
import { type Arena, openArena } from './arena.ts';
import type { Bar, Figure, Sample } from './figure.ts';
import { openMeasuredStore } from './measured-store.ts';
import { freshFolder, type Group, type Plan } from './plan.ts';
import { percentile } from './statistics.ts';

const SHORT = 1_000;
const ROWS_PER_APPEND = 500;

export const forkGroup: Group = {
  name: 'forks',
  about: 'forks late in a run of 100,000 events, and its state at any event',
  figures: [
    'fork-accepted-p50',
    'fork-accepted-p99',
    'fork-first-read',
    'branch-accepted-p50',
    'branch-accepted-p99',
    'branch-first-read',
    'snapshot-at',
  ],
  run: forkFigures,
};

async function forkFigures(plan: Plan): Promise<readonly Figure[]> {
  const forks = await storeFigures(plan);
  await using arena = await openArena(plan);
  const runs = await writtenByHost(plan, arena);
  return [...forks, ...(await branchFigures(plan, arena, runs)), await snapshotFigure(plan, arena, runs)];
}

interface Times {
  readonly acceptedMs: readonly number[];
  readonly readMs: readonly number[];
}

async function storeFigures(plan: Plan): Promise<readonly Figure[]> {
  const store = await openMeasuredStore(freshFolder(plan, 'forks'));
  const length = plan.quick ? 10_000 : 100_000;
  const long = await writtenRun(store, 'run_long' as RunId, length);
  const short = await writtenRun(store, 'run_short' as RunId, SHORT);
  const count = plan.quick ? 50 : 200;
  await timedForks(store, { source: short, fromSeq: SHORT - 10, count: 20 });
  const rounds: { readonly long: Times; readonly short: Times }[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    rounds.push({
      long: await timedForks(store, { source: long, fromSeq: length - SHORT, count }),
      short: await timedForks(store, { source: short, fromSeq: SHORT - 10, count }),
    });
  }
  await store.close();
  return figuresOf('fork', rounds);
}

function figuresOf(what: 'fork' | 'branch', rounds: readonly { readonly long: Times; readonly short: Times }[]) {
  const bar: Bar = { of: 'value', is: '<', amount: 10 };
  const figure = (name: string, of: (times: Times) => number): Figure => ({
    name: `${what}-${name}`,
    unit: 'ms',
    limitName: `a ${what} of a run of ${SHORT} events`,
    bar,
    samples: rounds.map((round): Sample => ({ value: of(round.long), limit: of(round.short) })),
  });
  return [
    figure('accepted-p50', ({ acceptedMs }) => percentile(acceptedMs, 0.5)),
    figure('accepted-p99', ({ acceptedMs }) => percentile(acceptedMs, 0.99)),
    figure('first-read', ({ readMs }) => percentile(readMs, 0.5)),
  ];
}

interface HostRuns {
  readonly long: string;
  readonly short: string;
  /** Events of the long one. */
  readonly length: number;
}

async function writtenByHost(plan: Plan, arena: Arena): Promise<HostRuns> {
  const length = plan.quick ? 10_000 : 100_000;
  const long = await arena.host.ask('timeRun', { workflowId: `bench-loop-${length}` });
  const short = await arena.host.ask('timeRun', { workflowId: `bench-loop-${SHORT}` });
  return { long: long.runId, short: short.runId, length };
}

/** Branches over HTTP: the engine has to know the state at the cut before it accepts one. */
async function branchFigures(plan: Plan, arena: Arena, { long, short, length }: HostRuns): Promise<readonly Figure[]> {
  const count = plan.quick ? 20 : 100;
  const branches = (runId: string, fromSeq: number): Promise<Times> =>
    arena.load.ask('forks', { target: arena.hostTarget, runId, fromSeq, count });
  await branches(short, SHORT - 100);
  const rounds: { readonly long: Times; readonly short: Times }[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    rounds.push({ long: await branches(long, length - SHORT), short: await branches(short, SHORT - 100) });
  }
  return figuresOf('branch', rounds);
}

/** A run of events as an engine writes them: some open and close a question. */
async function writtenRun(store: Store, runId: RunId, length: number): Promise<RunId> {
  const row = (seq: number) => ({
    at: 1_000,
    type: seq === 0 ? 'run.started' : 'node.completed',
    nodeId: 'n',
    audience: 'client' as const,
    payload: JSON.stringify({ workflowId: 'w', definitionHash: 'd', owner: {}, seq, text: 'x'.repeat(300) }),
    task: null,
  });
  const create = { tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runId };
  for (let seq = 0; seq < length; seq += ROWS_PER_APPEND) {
    const rows = Array.from({ length: ROWS_PER_APPEND }, (_, i) => row(seq + i));
    await store.log.append({ runId, rows, create: seq === 0 ? create : undefined });
  }
  return runId;
}

let forks = 0;

async function timedForks(
  store: Store,
  { source, fromSeq, count }: { readonly source: RunId; readonly fromSeq: number; readonly count: number },
): Promise<Times> {
  const acceptedMs: number[] = [];
  const readMs: number[] = [];
  for (let i = 0; i < count; i++) {
    forks += 1;
    const runId = `run_fork_${forks}` as RunId;
    const identity = { runId, tenant: 't', contextId: `ctx_fork_${forks}` as ContextId, originRunId: source };
    const begun = performance.now();
    await store.log.fork({ ...identity, fork: { sourceRunId: source, fromSeq, mode: 'branch' }, at: 1_000 });
    const accepted = performance.now();
    const rows = await store.log.read({ runId, after: fromSeq - 101, limit: 100 });
    acceptedMs.push(accepted - begun);
    readMs.push(rows.length === 100 ? performance.now() - accepted : Number.NaN);
  }
  return { acceptedMs, readMs };
}

/** The snapshot at an event in the last tenth of a run, over HTTP. */
async function snapshotFigure(plan: Plan, arena: Arena, { long, short, length }: HostRuns): Promise<Figure> {
  const count = plan.quick ? 50 : 200;
  const read = (runId: string, atSeq: number) =>
    arena.load.ask('reads', { target: arena.hostTarget, path: `/v1/runs/${runId}?atSeq=${atSeq}`, count });
  await read(short, SHORT - 100);
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const value = await read(long, Math.floor(length * 0.9345));
    const limit = await read(short, Math.floor(SHORT * 0.9));
    samples.push({ value: value.p50Ms, limit: limit.p50Ms });
    plan.progress(
      `  a snapshot at an event: ${value.p50Ms.toFixed(2)} ms in a long run, ${limit.p50Ms.toFixed(2)} in short ones`,
    );
  }
  return {
    name: 'snapshot-at',
    unit: 'ms p50',
    limitName: `the same in a run of ${SHORT} events`,
    bar: { of: 'value', is: '<', amount: 20 },
    samples,
  };
}
