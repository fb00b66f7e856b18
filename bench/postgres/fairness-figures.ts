/** Two tenants on three nodes of one database: what 500 looping runs of one cost the other. */
import { setTimeout } from 'node:timers/promises';
import { present } from '../../packages/host/test/kit/present.ts';
import { Child } from '../child.ts';
import { greedyLoops, neighbour as neighbourKey } from '../fairness-load.ts';
import type { Figure } from '../figure.ts';
import type { LoadCommands, PacedResult } from '../load.ts';
import { freshFolder, type Group, type Plan } from '../plan.ts';
import { median } from '../statistics.ts';
import { type Node, startNode } from './nodes.ts';
import { startMeasuredServer } from './server.ts';

const LOOPS = 500;
const NODES = 3;

/** Often enough for a p50, rare enough that the neighbour itself is no load. */
const EVERY_MS = 20;

/** Where the neighbour is: at the node where the loops began, or at another one. */
const places = ['same', 'other'] as const;

export const fairnessGroup: Group = {
  name: 'pg-fairness',
  about: `a tenant whose neighbour has ${LOOPS} looping runs, on three nodes`,
  figures: places.flatMap((place) => [`pg-fair-start-${place}`, `pg-fair-delays-${place}`]),
  run: fairnessFigures,
};

interface Round {
  readonly quiet: number;
  readonly beside: PacedResult;
  readonly delays: PacedResult;
}

async function fairnessFigures(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]> {
  await using server = await startMeasuredServer(plan);
  const url = await server.database();
  await using started = new AsyncDisposableStack();
  const load = started.use(new Child<LoadCommands>(new URL('../load.ts', import.meta.url)));
  const nodes: Node[] = [];
  for (let n = 0; n < NODES; n += 1) {
    const runs = { workflowId: 'bench-small', concurrency: 1, count: plan.quick ? 100 : 1_000 };
    const warmUp = (target: Node['target']) => load.ask('runs', { ...runs, target });
    nodes.push(started.use(await startNode(url, freshFolder(plan, 'node'), warmUp)));
  }
  const figures: Figure[] = [];
  for (const [n, place] of places.entries()) {
    const names = [`pg-fair-start-${place}`, `pg-fair-delays-${place}`] as const;
    if (!names.some((name) => wanted.includes(name))) continue;
    const rounds: Round[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      const workflowId = present(greedyLoops[round % greedyLoops.length]);
      rounds.push(
        await oneRound(plan, load, { greedy: present(nodes[0]), node: present(nodes[n]), workflowId, place }),
      );
    }
    figures.push(
      {
        name: names[0],
        unit: 'ms p50',
        limitName: 'the same start on quiet nodes',
        bar: { of: 'ratio', is: '<=', amount: 3 },
        samples: rounds.map(({ beside, quiet }) => ({ value: beside.startP50, limit: quiet })),
      },
      {
        name: names[1],
        unit: 'ms at most',
        limitName: 'the six delays of 10 ms',
        bar: { of: 'value', is: '<=', amount: 1_000 },
        samples: rounds.map(({ delays }) => ({ value: delays.endMax, limit: 60 })),
      },
    );
  }
  return figures;
}

interface Stage {
  readonly greedy: Node;
  readonly node: Node;
  readonly workflowId: string;
  readonly place: string;
}

async function oneRound(
  plan: Plan,
  load: Child<LoadCommands>,
  { greedy, node, workflowId, place }: Stage,
): Promise<Round> {
  const target = { port: node.target.port, key: neighbourKey.key };
  const starts = { target, workflowId: 'bench-small', count: plan.quick ? 40 : 150, everyMs: EVERY_MS };
  const delays = { target, workflowId: 'bench-six-delays', count: 20, everyMs: EVERY_MS };
  const before = await load.ask('pacedRuns', starts);
  await greedy.host.ask('startLoops', { workflowIds: [workflowId], count: LOOPS });
  await setTimeout(1_000);
  const beside = await load.ask('pacedRuns', starts);
  const delayed = await load.ask('pacedRuns', delays);
  const looping = await greedy.host.ask('stopLoops');
  await setTimeout(500);
  const after = await load.ask('pacedRuns', starts);
  const quiet = median([before.startP50, after.startP50]);
  plan.progress(
    `  ${place} node, ${workflowId}, ${looping} still loop: start p50 ${beside.startP50.toFixed(1)} p99 ${beside.startP99.toFixed(0)} ms (quiet ${quiet.toFixed(1)}), run p50 ${beside.endP50.toFixed(1)} ms; six delays p50 ${delayed.endP50.toFixed(0)} max ${delayed.endMax.toFixed(0)} ms`,
  );
  const isWhole = looping === LOOPS;
  return { quiet, beside: isWhole ? beside : { ...beside, startP50: Number.NaN }, delays: delayed };
}
