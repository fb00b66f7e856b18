/**
 * Figures for runs that start runs: the throughput of one supervisor, and whether the last child costs more than the
 * first.
 */
import { type Arena, type Cost, costOf, openArena } from './arena.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { Group, Plan } from './plan.ts';
import { treeSizes } from './tree-load.ts';

/** A difference under this is noise on a shared machine. */
const FLAT = 1.2;
/** A child costs one run plus the rows its parent writes about it. */
const SHARE_OF_A_RUN = 0.25;

export const childrenGroup: Group = {
  name: 'children',
  about: 'runs that one supervisor sends out, 100 side by side',
  figures: ['child-runs', 'child-cost'],
  run: childrenFigures,
};

async function childrenFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  const size = plan.quick ? treeSizes.quick : treeSizes.full;
  const rounds: Round[] = [];
  // The first pass warms up the JIT.
  await round(plan, arena, treeSizes.quick);
  for (let n = 0; n < plan.rounds; n++) rounds.push(await round(plan, arena, size));
  const durability = totalDurability(rounds.map(({ cost }) => cost));
  return [
    {
      name: 'child-runs',
      unit: 'runs/s',
      limitName: 'the same workflow as runs of their own, 100 started at a time',
      bar: { of: 'ratio', is: '>=', amount: SHARE_OF_A_RUN },
      samples: rounds.map(({ rate }) => rate),
      durability,
    },
    {
      name: 'child-cost',
      unit: 'ms CPU/child',
      limitName: `trees of ${treeSizes.small} or ${treeSizes.one} runs, one after the other, whichever cost less`,
      bar: { of: 'ratio', is: '<=', amount: FLAT },
      samples: rounds.map(({ perChild }) => perChild),
      durability,
    },
  ];
}

interface Round {
  readonly rate: Sample;
  readonly perChild: Sample;
  readonly cost: Cost;
}

async function round(plan: Plan, arena: Arena, size: number): Promise<Round> {
  const { host } = arena;
  const large = await costOf(plan, host, () => host.ask('timeTree', { size, times: 1 }));
  const small = await cpuPerChild(plan, arena, treeSizes.small);
  const one = await cpuPerChild(plan, arena, treeSizes.one);
  const count = Math.min(size, 5_000);
  const aloneMs = await host.ask('timeWorkers', { count });
  // A missing run invalidates the figure.
  const isWhole = large.result.children === size;
  const value = isWhole ? (size / large.result.ms) * 1000 : Number.NaN;
  const rate = { value, limit: (count / aloneMs) * 1000 };
  const perChild = {
    value: isWhole ? large.cost.cpuMs / size : Number.NaN,
    limit: Math.min(small, one),
  };
  plan.progress(
    `  ${Math.round(rate.value)} children/s of ${size}, ${perChild.value.toFixed(3)} ms CPU each; ${small.toFixed(3)} ms in trees of ${treeSizes.small}, ${one.toFixed(3)} of ${treeSizes.one}; alone ${Math.round(rate.limit)} runs/s`,
  );
  return { rate, perChild, cost: large.cost };
}

async function cpuPerChild(plan: Plan, { host }: Arena, size: number): Promise<number> {
  const times = (plan.quick ? 500 : 5_000) / size;
  const { result, cost } = await costOf(plan, host, () => host.ask('timeTree', { size, times }));
  return cost.cpuMs / result.children;
}
