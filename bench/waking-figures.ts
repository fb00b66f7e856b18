/** Figures for runs that rest and wake: the cost of a wake must not grow with the run, and timers must be on time. */
import { type Arena, openArena } from './arena.ts';
import type { Figure } from './figure.ts';
import type { Group, Plan } from './plan.ts';
import { percentile } from './statistics.ts';
import { FEW_NODES, MANY_NODES, type Waking } from './waking-load.ts';

export const wakingGroup: Group = {
  name: 'waking',
  about: `runs that wait: of ${MANY_NODES} nodes beside ${FEW_NODES}, and their timers on a quiet host`,
  figures: ['wake-cpu', 'wake-growth', 'timer-late-p50', 'timer-late-p99', 'timer-rested-p99'],
  run: wakingFigures,
};

interface Round {
  readonly many: number;
  readonly few: number;
  readonly late: readonly number[];
  readonly rested: readonly number[];
  readonly bare: readonly number[];
}

async function wakingFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await arena.host.ask('wake', { workflowId: 'bench-delays-few', count: plan.quick ? 20 : 200 });
  await arena.host.ask('wake', { workflowId: 'bench-delays-many', count: 1 });
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) rounds.push(await oneRound(plan, arena));
  return [
    {
      name: 'wake-cpu',
      unit: 'ms',
      limitName: `a wake of a run of ${FEW_NODES} nodes`,
      bar: { of: 'value', is: '<', amount: 0.4 },
      samples: rounds.map(({ many, few }) => ({ value: many, limit: few })),
    },
    {
      name: 'wake-growth',
      unit: 'ms',
      limitName: `a wake of a run of ${FEW_NODES} nodes`,
      bar: { of: 'ratio', is: '<=', amount: 1.5 },
      samples: rounds.map(({ many, few }) => ({ value: many, limit: few })),
    },
    lateFigure('timer-late-p50', 0.5, 2, (round) => round.late)(rounds),
    lateFigure('timer-late-p99', 0.99, 10, (round) => round.late)(rounds),
    lateFigure('timer-rested-p99', 0.99, 10, (round) => round.rested)(rounds),
  ];
}

const lateFigure =
  (name: string, share: number, amount: number, of: (round: Round) => readonly number[]) =>
  (rounds: readonly Round[]): Figure => ({
    name,
    unit: 'ms',
    limitName: 'a bare setTimeout in the same process',
    bar: { of: 'value', is: '<=', amount },
    samples: rounds.map((round) => ({ value: percentile(of(round), share), limit: percentile(round.bare, share) })),
  });

async function oneRound(plan: Plan, { host }: Arena): Promise<Round> {
  const few = await host.ask('wake', { workflowId: 'bench-delays-few', count: plan.quick ? 20 : 200 });
  const many = await host.ask('wake', { workflowId: 'bench-delays-many', count: 1 });
  const quiet = await host.ask('wake', { workflowId: 'bench-delays-quiet', count: plan.quick ? 1 : 5 });
  // Far enough apart that each timer finds a quiet host.
  const rested = await host.ask('wake', {
    workflowId: 'bench-delay-rested',
    count: plan.quick ? 10 : 100,
    everyMs: 23,
  });
  const bare = await host.ask('bareTimers', { count: 100, delayMs: 7 });
  const perWake = ({ cpuMs, wakes }: Waking) => cpuMs / wakes;
  plan.progress(
    `  a wake: ${perWake(many).toFixed(3)} ms CPU of ${MANY_NODES} nodes, ${perWake(few).toFixed(3)} of ${FEW_NODES}; ` +
      `late by ${percentile(quiet.lateMs, 0.5).toFixed(1)} ms p50, ${percentile(quiet.lateMs, 0.99).toFixed(1)} p99, ` +
      `after a rest ${percentile(rested.lateMs, 0.99).toFixed(1)}`,
  );
  return { many: perWake(many), few: perWake(few), late: quiet.lateMs, rested: rested.lateMs, bare };
}
