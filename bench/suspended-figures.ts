/** Figures for runs that wait for a person: the creation rate, and the cost while idle. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { present } from '../packages/host/test/kit/present.ts';
import { type Arena, costOf, type Hollow, openArena, openHollow } from './arena.ts';
import { type Durability, type Figure, type Sample, totalDurability } from './figure.ts';
import type { Group, Plan } from './plan.ts';
import type { Target } from './watched-run.ts';

const WORKFLOW = 'bench-gate';
const CONCURRENCY = 16;

export const suspendedGroup: Group = {
  name: 'suspended',
  about: '100,000 runs that wait for an answer',
  figures: ['suspended-create', 'suspended-heap', 'suspended-idle'],
  run: suspendedFigures,
};

async function suspendedFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await using hollow = await openHollow(plan, arena, WORKFLOW);
  const total = plan.quick ? 5_000 : 100_000;
  await arena.load.ask('creates', {
    target: arena.hostTarget,
    workflowId: WORKFLOW,
    concurrency: CONCURRENCY,
    count: 2_000,
  });
  const heapBefore = await arena.host.ask('heapBytes');
  const create = await createFigure(plan, arena, hollow, total);
  const heapAfter = await arena.host.ask('heapBytes');
  const value = (heapAfter - heapBefore) / total / 1000;
  plan.progress(`  heap per suspended run: ${value.toFixed(3)} kB`);
  return [
    create,
    {
      name: 'suspended-heap',
      unit: 'kB/run',
      limitName: 'a bare Map from run id to number',
      bar: { of: 'value', is: '<=', amount: 0.5 },
      samples: [{ value, limit: bareIndexEntry(total) }],
    },
    await idleFigure(plan, arena, hollow),
  ];
}

/** Creates the 100,000 runs in slices, alternating with slices of the same size on the hollow server. */
async function createFigure(plan: Plan, arena: Arena, hollow: Hollow, total: number): Promise<Figure> {
  const slices = plan.quick ? 1 : 5;
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  for (let slice = 0; slice < slices; slice++) {
    const drive = (target: Target) =>
      arena.load.ask('creates', { target, workflowId: WORKFLOW, concurrency: CONCURRENCY, count: total / slices });
    const host = await costOf(plan, arena.host, () => drive(arena.hostTarget));
    const bare = await drive(hollow.target);
    samples.push({ value: host.result.perSecond, limit: bare.perSecond });
    durability.push(host.cost);
    const cpu = (host.cost.cpuMs / (total / slices)).toFixed(2);
    plan.progress(
      `  created/s: ${Math.round(host.result.perSecond)} of ${Math.round(bare.perSecond)}, ${cpu} ms CPU each`,
    );
  }
  return {
    name: 'suspended-create',
    unit: 'created/s',
    limitName: 'hollow server, the same rows group-committed',
    bar: { of: 'value', is: '>=', amount: 1500 },
    samples,
    durability: totalDurability(durability),
  };
}

/** Measures the host and the hollow server side by side while both are idle. */
async function idleFigure(plan: Plan, arena: Arena, hollow: Hollow): Promise<Figure> {
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const resting = await costOf(plan, arena.host, () =>
      costOf(plan, hollow.server, () => setTimeout(plan.quick ? 2_000 : 10_000)),
    );
    const share = (cost: { readonly cpuMs: number; readonly ms: number }) => (cost.cpuMs / cost.ms) * 100;
    samples.push({ value: share(resting.cost), limit: share(resting.result.cost) });
    plan.progress(`  at rest: ${share(resting.cost).toFixed(3)} % of a core`);
  }
  return {
    name: 'suspended-idle',
    unit: '% of a core',
    limitName: 'hollow server at rest',
    bar: { of: 'value', is: '<=', amount: 1 },
    samples,
  };
}

/** kB of heap per entry of the smallest useful index. */
function bareIndexEntry(count: number): number {
  const index = new Map<string, number>();
  const before = collectedHeap();
  // Same length as a run id, and a flat string: a concatenated string keeps its parts alive.
  for (let n = 0; n < count; n++) index.set(randomBytes(20).toString('hex'), n);
  const bytes = collectedHeap() - before;
  return bytes / index.size / 1000;
}

function collectedHeap(): number {
  present(globalThis.gc)();
  return process.memoryUsage().heapUsed;
}
