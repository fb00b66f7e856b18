/** What it costs to claim runs beside a million that rest, compared with a thousand. */
import { setImmediate } from 'node:timers/promises';
import type { Figure, Sample } from '../figure.ts';
import { openMeasuredPostgres, type PostgresStore } from '../measured-store.ts';
import type { Group, Plan } from '../plan.ts';
import { percentile } from '../statistics.ts';
import { DUE, restingRuns } from './resting-runs.ts';
import { startMeasuredServer } from './server.ts';

/** Runs claimed at once: fewer than are due, so that tenants take turns. */
const LIMIT = 16;

export const claimGroup: Group = {
  name: 'pg-claims',
  about: 'claims of due runs beside a million runs that rest',
  figures: ['pg-claim', 'pg-claim-nothing', 'pg-claim-due'],
  run: claimFigures,
};

async function claimFigures(plan: Plan): Promise<readonly Figure[]> {
  await using server = await startMeasuredServer(plan);
  const [few, many] = [1_000, plan.quick ? 20_000 : 1_000_000];
  const stores: PostgresStore[] = [];
  for (const count of [few, many]) {
    const url = await server.database();
    const begin = performance.now();
    await restingRuns(url, count);
    plan.progress(`  ${count} resting runs written in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    stores.push(await openMeasuredPostgres(url));
  }
  const [small, large] = stores;
  if (small === undefined || large === undefined) return [];
  const figures: Figure[] = [];
  for (const [name, work] of Object.entries(works)) {
    const samples: Sample[] = [];
    for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
      const count = plan.quick ? 30 : 100;
      const sample = { limit: await p50(small, work, count), value: await p50(large, work, count) };
      if (round >= 0) samples.push(sample);
    }
    plan.progress(
      `  ${name}: ${samples.map(({ value, limit }) => `${value.toFixed(2)} and ${limit.toFixed(2)}`).join(', ')} ms`,
    );
    figures.push({
      name,
      unit: `ms p50 with ${many} resting runs`,
      limitName: `the same with ${few}`,
      bar: { of: 'ratio', is: '<=', amount: 1.5 },
      samples,
    });
  }
  for (const store of stores) await store.close();
  return figures;
}

/** What is timed, and what sets everything back. */
interface Work {
  time(store: PostgresStore): Promise<unknown>;
  reset?(store: PostgresStore): Promise<unknown>;
}

const NOW = 1_800_000_000_000;
const claim = ({ queue }: PostgresStore, limit: number, now = NOW) =>
  queue.claim({ owner: 'bench', now, until: NOW + 1_000_000, limit });
const held = new Map<PostgresStore, Awaited<ReturnType<typeof claim>>>();

const works: Readonly<Record<string, Work>> = {
  'pg-claim': {
    time: async (store) => void held.set(store, await claim(store, LIMIT)),
    reset: async (store) => {
      const claimed = held.get(store) ?? [];
      if (claimed.length !== LIMIT) throw new Error(`${claimed.length} of ${DUE} due runs were claimed.`);
      for (const { runId, fence } of claimed) await store.queue.release({ runId, fence, wakeAt: NOW - 1 });
    },
  },
  'pg-claim-nothing': { time: (store) => claim(store, LIMIT, 0) },
  'pg-claim-due': { time: ({ queue }) => queue.due() },
};

async function p50(store: PostgresStore, { time, reset }: Work, count: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    await time(store);
    took.push(performance.now() - begin);
    await reset?.(store);
    await setImmediate();
  }
  return percentile(took, 0.5);
}
