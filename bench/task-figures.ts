/** Figures for task events: conversations over HTTP, pages of large contexts, idle streams, and what faces cost. */
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FoldEvent, foldEventOf, foldRun, newRunView, type RunId, taskFace } from '@cairn/protocol';
import { hostHeapFlags } from '../packages/host/bin/heap.mjs';
import { withBundle } from '../packages/host/src/cli/bundle-file.ts';
import { streamLoads } from './agent-load.ts';
import { type Arena, type Cost, costOf, openArena } from './arena.ts';
import { Child } from './child.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { HostCommands } from './host.ts';
import type { LoadCommands } from './load.ts';
import { freshFolder, type Group, type Plan } from './plan.ts';
import { median, percentile } from './statistics.ts';

const MIB = 1_048_576;

export const taskGroup: Group = {
  name: 'task-events',
  about: 'the task view: text to one client, first bytes, idle streams, pages of a large context, the cost of faces',
  figures: ['task-deltas', 'task-first-byte', 'task-idle-1000', 'task-page', 'task-projection', 'task-faces-cost'],
  run: taskFigures,
};

/** Those that need a host that is measured as a whole. */
const ofHost: Readonly<Record<string, (plan: Plan, arena: Arena) => Promise<Figure>>> = {
  'task-deltas': deltaFigure,
  'task-first-byte': firstByteFigure,
  'task-page': pageFigure,
  'task-idle-1000': idleFigure,
};

async function taskFigures(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const chosen = Object.entries(ofHost).filter(([name]) => wanted.includes(name));
  if (chosen.length > 0) {
    await using arena = await openArena(plan);
    for (const [, measure] of chosen) figures.push(await measure(plan, arena));
  }
  if (wanted.includes('task-projection')) figures.push(projectionFigure(plan));
  if (wanted.includes('task-faces-cost')) figures.push(await costFigure(plan));
  return figures;
}

/** A message to a scripted agent: every delta is a row with a face, durable before the client sees it. */
async function deltaFigure(plan: Plan, { host, load, hostTarget }: Arena): Promise<Figure> {
  const deltas = plan.quick ? streamLoads.quick : streamLoads.full;
  const rounds: (Sample & { readonly cost: Cost })[] = [];
  // The first pass warms up the JIT.
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    const message = { target: hostTarget, agentId: `host:bench-stream-${deltas}` };
    const { result, cost } = await costOf(plan, host, () => load.ask('message', message));
    const isWhole = result.deltas === deltas && result.isComplete;
    const value = isWhole ? (result.counted / result.ms) * 1_000 : Number.NaN;
    plan.progress(
      `  deltas: ${Math.round(value)}/s of ${result.deltas}, ${((cost.cpuMs / result.deltas) * 1_000).toFixed(1)} us CPU each, client ${result.clientCores.toFixed(2)} cores`,
    );
    if (round >= 0) rounds.push({ value, limit: deltas, cost });
  }
  return {
    name: 'task-deltas',
    unit: 'events/s',
    limitName: 'deltas that the agent says',
    bar: { of: 'value', is: '>=', amount: 40_000 },
    samples: rounds,
    durability: totalDurability(rounds.map(({ cost }) => cost)),
  };
}

async function firstByteFigure(plan: Plan, { load, hostTarget: target }: Arena): Promise<Figure> {
  const count = plan.quick ? 30 : 300;
  const samples: Sample[] = [];
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    const { firstMs, createdMs } = await load.ask('firstBytes', { target, agentId: 'host:bench-greeter', count });
    if (round >= 0) samples.push({ value: percentile(createdMs, 0.5), limit: percentile(firstMs, 0.5) });
  }
  return {
    name: 'task-first-byte',
    unit: 'ms p50',
    limitName: 'the first byte of the body, before the first event',
    bar: { of: 'value', is: '<', amount: 10 },
    samples,
  };
}

/** Pages at random cursors, over HTTP; the same of a context with ten runs beside it. */
async function pageFigure(plan: Plan, { host, load, hostTarget: target }: Arena): Promise<Figure> {
  const large = await host.ask('contextOfRuns', { runs: plan.quick ? 1_000 : 10_000 });
  const small = await host.ask('contextOfRuns', { runs: 10 });
  const count = plan.quick ? 200 : 1_000;
  const samples: Sample[] = [];
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    const p99 = async ({ contextId, head }: typeof large) => {
      const paths = Array.from(
        { length: count },
        () => `/api/contexts/${contextId}/events?limit=100&after=${randomInt(head)}`,
      );
      return percentile(await load.ask('pages', { target, paths }), 0.99);
    };
    const sample = { value: await p99(large), limit: await p99(small) };
    plan.progress(`  a page: p99 ${sample.value.toFixed(2)} ms of many runs, ${sample.limit.toFixed(2)} ms of ten`);
    if (round >= 0) samples.push(sample);
  }
  return {
    name: 'task-page',
    unit: 'ms p99',
    limitName: 'a page of a context with ten runs',
    bar: { of: 'value', is: '<', amount: 5 },
    samples,
  };
}

/** Streams of as many contexts, none of which writes. */
async function idleFigure(plan: Plan, { host, load, hostTarget: target }: Arena): Promise<Figure> {
  const count = plan.quick ? 200 : 1_000;
  const ids = await host.ask('contexts', { count });
  const paths = ids.map((id) => `/api/contexts/${id}/stream`);
  // Once before, so that what the first streams of a process cost is not counted.
  await load.ask('openStreams', { target, paths: paths.slice(0, 50) });
  await load.ask('closeStreams');
  const before = await host.ask('residentBytes');
  await load.ask('openStreams', { target, paths });
  const grown = ((await host.ask('residentBytes')) - before) / MIB;
  await load.ask('closeStreams');
  plan.progress(`  ${count} idle streams: ${grown.toFixed(1)} MB`);
  return {
    name: 'task-idle-1000',
    unit: 'MB',
    limitName: 'streams',
    bar: { of: 'value', is: '<', amount: plan.quick ? 20 : 60 },
    samples: [{ value: grown, limit: count }],
  };
}

interface RecordedRun {
  readonly runId: RunId;
  readonly events: readonly FoldEvent[];
}

/** The golden histories: runs of every kind. */
function recordedRuns(): readonly RecordedRun[] {
  const folder = join(import.meta.dirname, '..', 'e2e', 'golden', 'v0.0.0');
  const found: RecordedRun[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl')))
    withBundle(join(folder, file), ({ runs }) => {
      for (const { run, rows } of runs)
        found.push({
          runId: run.runId,
          events: [...rows].map((row) => foldEventOf({ ...row, payload: row.payload ?? '{}' })),
        });
    });
  return found;
}

/** The fold is what every reader of the log does; it is counted, too. */
function projectionFigure(plan: Plan): Figure {
  const runs = recordedRuns();
  const count = runs.reduce((sum, { events }) => sum + events.length, 0);
  const repeats = Math.ceil((plan.quick ? 20_000 : 200_000) / count);
  const microseconds = (face: typeof taskFace | null): number => {
    const begun = performance.now();
    for (let i = 0; i < repeats; i++) {
      for (const { runId, events } of runs) {
        const view = newRunView(runId);
        for (const event of events) {
          foldRun(view, event);
          face?.(view, event);
        }
      }
    }
    return ((performance.now() - begun) * 1_000) / (repeats * count);
  };
  const samples: Sample[] = [];
  for (let round = -1; round < plan.rounds; round++) {
    const sample = { value: microseconds(taskFace), limit: microseconds(null) };
    if (round >= 0) samples.push(sample);
  }
  return {
    name: 'task-projection',
    unit: 'us/event',
    limitName: 'the fold alone',
    bar: { of: 'value', is: '<', amount: 3 },
    samples,
    notes: [`${count} recorded events of ${runs.length} runs`],
  };
}

/** Two processes of the same code differ, so each side has several. */
const INSTANCES = 3;

/** Rounds of one pair of hosts, in turns: what else the machine does meets both. */
const ROUNDS = 8;

/**
 * CPU for each run, 16 at a time, on hosts with and without the writers of faces and of the context index. Runs per second
 * differ between two processes of the same code by more than what is measured.
 */
async function costFigure(plan: Plan): Promise<Figure> {
  const samples: Sample[] = [];
  const notes: string[] = [];
  for (let instance = 0; instance < (plan.quick ? 1 : INSTANCES); instance++) {
    const rounds = await pairOfHosts(plan);
    samples.push(...rounds);
    const [value, limit] = [median(rounds.map((one) => one.value)), median(rounds.map((one) => one.limit))];
    notes.push(`${Math.round(value)} us with, ${Math.round(limit)} us without`);
    plan.progress(`  CPU of a run: ${notes.at(-1)}`);
  }
  return {
    name: 'task-faces-cost',
    unit: 'us CPU/run',
    limitName: 'the same host without faces and without the context index',
    // At most 8 % of a run.
    bar: { of: 'ratio', is: '<=', amount: 1 / 0.92 },
    samples,
    notes,
  };
}

const withoutFaces = [`--import=${new URL('./without-faces.ts', import.meta.url)}`];

async function pairOfHosts(plan: Plan): Promise<readonly Sample[]> {
  await using value = await measuredHost(plan, []);
  await using limit = await measuredHost(plan, withoutFaces);
  const warmUp = plan.quick ? 300 : 8_000;
  await value.cpuOf(warmUp);
  await limit.cpuOf(warmUp);
  const rounds: Sample[] = [];
  const count = plan.quick ? 200 : 1_000;
  for (let round = 0; round < (plan.quick ? 2 : ROUNDS); round++) {
    // Whoever is second meets the leftovers of the first.
    if (round % 2 === 0) rounds.push({ value: await value.cpuOf(count), limit: await limit.cpuOf(count) });
    else {
      const without = await limit.cpuOf(count);
      rounds.push({ value: await value.cpuOf(count), limit: without });
    }
  }
  return rounds;
}

/** A host with a client, and the CPU microseconds that each of so many runs takes it. */
async function measuredHost(plan: Plan, flags: readonly string[]) {
  await using starting = new AsyncDisposableStack();
  const host = starting.use(
    new Child<HostCommands>(new URL('./host.ts', import.meta.url), [...hostHeapFlags, ...flags]),
  );
  const load = starting.use(new Child<LoadCommands>(new URL('./load.ts', import.meta.url)));
  const target = await host.ask('serve', { folder: freshFolder(plan, 'faces') });
  const started = starting.move();
  const cpuOf = async (count: number): Promise<number> => {
    const runs = { target, workflowId: 'bench-ten-steps', concurrency: 16, count };
    const { cost } = await costOf(plan, host, () => load.ask('runs', runs));
    return (cost.cpuMs / count) * 1_000;
  };
  return { cpuOf, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
