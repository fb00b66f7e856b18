/** Figures for two tenants on one host: what 500 looping runs of one cost the other. */
import { setTimeout } from 'node:timers/promises';
import { type Arena, openArena } from './arena.ts';
import { greedyLoops, neighbour as neighbourKey } from './fairness-load.ts';
import type { Figure } from './figure.ts';
import type { PacedResult } from './load.ts';
import type { Group, Plan } from './plan.ts';
import { median } from './statistics.ts';
import type { Target } from './watched-run.ts';

const LOOPS = 500;

/** Often enough for a p50, rare enough that the neighbour itself is no load. */
const EVERY_MS = 20;

export const fairnessGroup: Group = {
  name: 'fairness',
  about: `a tenant whose neighbour has ${LOOPS} looping runs`,
  figures: ['fair-start', 'fair-delays', 'longest-turn'],
  run: fairnessFigures,
};

interface Round {
  readonly quiet: PacedResult;
  readonly beside: PacedResult;
  readonly delays: PacedResult;
  readonly longestTurn: number;
}

async function fairnessFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  const neighbour = { port: arena.hostTarget.port, key: neighbourKey.key };
  await arena.load.ask('runs', {
    target: neighbour,
    workflowId: 'bench-small',
    concurrency: 1,
    count: plan.quick ? 200 : 2_000,
  });
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    for (const workflowIds of [...greedyLoops.map((id) => [id]), greedyLoops]) {
      rounds.push(await oneRound(plan, arena, { neighbour, workflowIds }));
    }
  }
  return [
    {
      name: 'fair-start',
      unit: 'ms p50',
      limitName: 'the same start on a quiet host',
      bar: { of: 'ratio', is: '<=', amount: 3 },
      samples: rounds.map(({ beside, quiet }) => ({ value: beside.startP50, limit: quiet.startP50 })),
    },
    {
      name: 'fair-delays',
      unit: 'ms at most',
      limitName: 'the six delays of 10 ms',
      bar: { of: 'value', is: '<=', amount: 1_000 },
      samples: rounds.map(({ delays }) => ({ value: delays.endMax, limit: 60 })),
    },
    {
      name: 'longest-turn',
      unit: 'ms',
      limitName: 'a turn that nobody notices',
      bar: { of: 'value', is: '<=', amount: 20 },
      samples: rounds.map(({ longestTurn }) => ({ value: longestTurn, limit: 20 })),
    },
  ];
}

async function oneRound(
  plan: Plan,
  { host, load }: Arena,
  { neighbour, workflowIds }: { readonly neighbour: Target; readonly workflowIds: readonly string[] },
): Promise<Round> {
  const count = plan.quick ? 40 : 150;
  const starts = { target: neighbour, workflowId: 'bench-small', count, everyMs: EVERY_MS };
  const delays = { target: neighbour, workflowId: 'bench-six-delays', count: 20, everyMs: EVERY_MS };
  const before = await load.ask('pacedRuns', starts);
  await host.ask('startLoops', { workflowIds, count: LOOPS });
  await setTimeout(1_000);
  await host.ask('watchTurns');
  const beside = await load.ask('pacedRuns', starts);
  const delayed = await load.ask('pacedRuns', delays);
  const turns = await host.ask('turnDelays');
  const looping = await host.ask('stopLoops');
  await setTimeout(500);
  const after = await load.ask('pacedRuns', starts);
  const quiet = { ...before, startP50: median([before.startP50, after.startP50]) };
  plan.progress(
    `  ${workflowIds.join(' and ')}, ${looping} still loop: start p50 ${beside.startP50.toFixed(2)} p99 ${beside.startP99.toFixed(1)}, run p50 ${beside.endP50.toFixed(2)} max ${beside.endMax.toFixed(1)} (quiet ${quiet.startP50.toFixed(2)}, ${quiet.endP50.toFixed(2)}); six delays p50 ${delayed.endP50.toFixed(0)} max ${delayed.endMax.toFixed(0)}; turns p50 ${turns.p50.toFixed(2)} p99 ${turns.p99.toFixed(1)} max ${turns.max.toFixed(1)} ms`,
  );
  return { quiet, beside, delays: delayed, longestTurn: looping === LOOPS ? turns.max : Number.NaN };
}
