/** Ten-step runs over HTTP on one, two and three nodes, beside what the raw batched insert of their rows allows. */
import { present } from '../../packages/host/test/kit/present.ts';
import { Child } from '../child.ts';
import { type Durability, type Figure, type Sample, totalDurability } from '../figure.ts';
import type { LoadCommands, LoadResult } from '../load.ts';
import { freshFolder, type Group, type Plan } from '../plan.ts';
import { type Node, startNode } from './nodes.ts';
import { RawInsert, type RawShape, readRawShape } from './raw-insert.ts';
import { startMeasuredServer } from './server.ts';

const WORKFLOW = 'bench-ten-steps';
const CONCURRENCY = 16;
const MOST_NODES = 3;

const nameOf = (nodes: number): string => `pg-runs-${nodes}-node${nodes === 1 ? '' : 's'}`;

export const runGroup: Group = {
  name: 'pg-runs',
  about: 'ten-step runs over HTTP at 16 concurrent, on one, two and three nodes',
  figures: Array.from({ length: MOST_NODES }, (_, n) => nameOf(n + 1)),
  run: runFigures,
};

interface Field {
  readonly plan: Plan;
  readonly url: string;
  readonly load: Child<LoadCommands>;
}

async function runFigures(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]> {
  await using server = await startMeasuredServer(plan);
  const url = await server.database();
  await using started = new AsyncDisposableStack();
  const field: Field = {
    plan,
    url,
    load: started.use(new Child<LoadCommands>(new URL('../load.ts', import.meta.url))),
  };
  const nodes: Node[] = [];
  const figures: Figure[] = [];
  // The nodes join one after the other; each is warm before it counts.
  for (let count = 1; count <= MOST_NODES; count++) {
    const runs = { workflowId: WORKFLOW, concurrency: CONCURRENCY };
    const node = started.use(
      await startNode(url, freshFolder(plan, 'node'), (target) =>
        field.load.ask('runs', { ...runs, target, count: plan.quick ? 60 : 4_000 }),
      ),
    );
    nodes.push(node);
    await field.load.ask('watchedRuns', { ...runs, target: node.target, count: plan.quick ? 60 : 400 });
    if (wanted.includes(nameOf(count))) figures.push(await onNodes(field, nodes));
  }
  return figures;
}

async function onNodes({ plan, url, load }: Field, nodes: readonly Node[]): Promise<Figure> {
  const shape = await readRawShape(url);
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  const clientCores: number[] = [];
  const name = nameOf(nodes.length);
  const runs = { targets: nodes.map(({ target }) => target), workflowId: WORKFLOW, concurrency: CONCURRENCY };
  for (let round = 0; round < plan.rounds; round++) {
    const before = await usageOf(nodes);
    const flushes = plan.flushes.read();
    const begin = performance.now();
    const result: LoadResult = await load.ask('runsOnNodes', { ...runs, count: plan.quick ? 60 : 400 });
    const ms = performance.now() - begin;
    const after = await usageOf(nodes);
    durability.push({ commits: after.commits - before.commits, flushes: plan.flushes.read() - flushes });
    clientCores.push(result.clientCores);
    const limit = await rawRuns(url, shape, { connections: nodes.length, ms: plan.quick ? 300 : 2_000 });
    samples.push({ value: result.perSecond, limit });
    const cores = ((after.cpuMs - before.cpuMs) / ms).toFixed(2);
    plan.progress(
      `  ${name}: ${result.perSecond.toFixed(0)} of ${limit.toFixed(0)} runs/s, p50 ${result.p50Ms.toFixed(0)} p99 ${result.p99Ms.toFixed(0)} ms, nodes ${cores} cores, client ${result.clientCores.toFixed(2)}`,
    );
  }
  return {
    name,
    unit: 'runs/s',
    limitName: `raw INSERT of the ${shape.rows.length} rows of a run, ${CONCURRENCY} runs at a time`,
    bar: { of: 'ratio', is: '>=', amount: 0.25 },
    samples,
    // Postgres flushes the commits of several nodes at once.
    ...(nodes.length === 1 && { durability: totalDurability(durability) }),
    notes: [`the nodes, Postgres and the client share ${nodes.length === 1 ? 'the' : 'all'} cores of this machine`],
  };
}

async function usageOf(nodes: readonly Node[]): Promise<{ readonly cpuMs: number; readonly commits: number }> {
  const all = await Promise.all(nodes.map(({ host }) => host.ask('usage')));
  return {
    cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    commits: all.reduce((sum, { commits }) => sum + commits, 0),
  };
}

/**
 * Runs a second if a run were nothing but its rows. As many runs at a time, in step: the rows up to each step's request are
 * one commit of all runs of a connection.
 */
async function rawRuns(
  url: string,
  shape: RawShape,
  { connections, ms }: { readonly connections: number; readonly ms: number },
): Promise<number> {
  const opened = await RawInsert.open(url, shape, connections);
  const cuts = commitsOf(shape);
  let done = 0;
  let lastRun = 0;
  const begin = performance.now();
  const lane = async (raw: RawInsert, width: number) => {
    while (performance.now() - begin < ms) {
      const runs = Array.from({ length: width }, () => ++lastRun);
      for (const { from, to } of cuts) {
        const seqs = Array.from({ length: to - from }, (_, n) => from + n);
        await raw.commit(runs.flatMap((run) => seqs.map((seq) => ({ shape: seq, run, seq }))));
      }
      done += width;
    }
  };
  const widthOf = (n: number) => Math.floor(CONCURRENCY / connections) + (n < CONCURRENCY % connections ? 1 : 0);
  await Promise.all(opened.map((raw, n) => lane(raw, widthOf(n))));
  const perSecond = (done / (performance.now() - begin)) * 1000;
  for (const raw of opened) await raw[Symbol.asyncDispose]();
  return perSecond;
}

/** The fewest commits in which every step's request is durable before its effect begins. */
function commitsOf({ columns, rows }: RawShape): readonly { readonly from: number; readonly to: number }[] {
  const typeAt = columns.findIndex(({ name }) => name === 'type');
  const ends = rows.flatMap((row, seq) =>
    present(row[typeAt]) === '"cairn.step.requested"' || seq === rows.length - 1 ? [seq + 1] : [],
  );
  return ends.map((to, n) => ({ from: ends[n - 1] ?? 0, to }));
}
