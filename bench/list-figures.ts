/** Figures for the lists of a host with a million runs: every set of filters, with common, rare and disjoint values. */
import { DatabaseSync } from 'node:sqlite';
import type { RunQuery } from '../packages/host/src/log/ports/run-index.ts';
import type { Figure, Sample } from './figure.ts';
import { openMeasuredStore, type SqliteStore } from './measured-store.ts';
import { millionRuns, statuses, TENANT, tags, workflows } from './million-runs.ts';
import { freshFolder, type Group, type Plan } from './plan.ts';
import { percentile } from './statistics.ts';

type Filters = Pick<RunQuery, 'status' | 'workflowId' | 'tag'>;

const byStatus: readonly Filters[] = statuses.map((status) => ({ status }));
const byWorkflow: readonly Filters[] = workflows.map((workflowId) => ({ workflowId }));
const byTag: readonly Filters[] = tags.map((tag) => ({ tag }));

const both = (some: readonly Filters[], others: readonly Filters[]): readonly Filters[] =>
  some.flatMap((one) => others.map((other) => ({ ...one, ...other })));

/** Every set of filters that the run list takes. */
const sets: Readonly<Record<string, readonly Filters[]>> = {
  'list-all': [{}],
  'list-status': byStatus,
  'list-workflow': byWorkflow,
  'list-tag': byTag,
  'list-status-workflow': both(byStatus, byWorkflow),
  'list-status-tag': both(byStatus, byTag),
  'list-workflow-tag': both(byWorkflow, byTag),
  'list-status-workflow-tag': both(both(byStatus, byWorkflow), byTag),
};

const LIMIT = 200;

export const listGroup: Group = {
  name: 'lists',
  about: 'pages of 200 runs, out of a million',
  figures: [...Object.keys(sets), 'list-inbox'],
  run: listFigures,
};

async function listFigures(plan: Plan): Promise<readonly Figure[]> {
  const count = plan.quick ? 20_000 : 1_000_000;
  const folder = freshFolder(plan, 'lists');
  const begin = performance.now();
  const file = await millionRuns(folder, count);
  plan.progress(`  ${count} runs written in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  using bare = new DatabaseSync(file, { readOnly: true });
  const store = await openMeasuredStore(folder);
  const measure = async (name: string, pages: readonly Page[]): Promise<Figure> => {
    const samples: Sample[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      samples.push({ value: await p99(pages, plan.quick ? 200 : 1_500), limit: bareP99(bare, count) });
    }
    plan.progress(`  ${name}: p99 ${samples.map(({ value }) => value.toFixed(2)).join(', ')} ms`);
    return {
      name,
      unit: 'ms p99',
      limitName: 'bare node:sqlite, 200 runs by key',
      bar: { of: 'value', is: '<', amount: 5 },
      samples,
    };
  };
  const figures: Figure[] = [];
  for (const [name, filters] of Object.entries(sets)) figures.push(await measure(name, pagesOf(store, filters, count)));
  const cursors = cursorsIn(count / 10);
  const inbox = cursors.map((cursor) => () => store.runIndex.pending({ tenant: TENANT, limit: LIMIT, cursor }));
  figures.push(await measure('list-inbox', inbox));
  await store.close();
  return figures;
}

type Page = () => Promise<unknown>;

/** The first page, pages in the middle, and the page behind the newest of the rare runs. */
const cursorsIn = (count: number): readonly (string | undefined)[] => [
  undefined,
  ...[0.9, 0.5, 0.1].map((share) => String(Math.round(count * share))),
  '3000',
  '1',
];

const pagesOf = ({ runIndex }: SqliteStore, filters: readonly Filters[], count: number): readonly Page[] =>
  filters.flatMap((filter) =>
    cursorsIn(count).map((cursor) => () => runIndex.list({ tenant: TENANT, ...filter, limit: LIMIT, cursor })),
  );

/** Reads every page in turn until at least `count` were read. */
async function p99(pages: readonly Page[], count: number): Promise<number> {
  const took: number[] = [];
  while (took.length < count) {
    for (const page of pages) {
      const begin = performance.now();
      await page();
      took.push(performance.now() - begin);
    }
  }
  return percentile(took, 0.99);
}

function bareP99(db: DatabaseSync, count: number): number {
  const run = db.prepare('SELECT * FROM runs WHERE key = ?');
  const took = Array.from({ length: 100 }, (_, n) => {
    const begin = performance.now();
    for (let i = 0; i < LIMIT; i++) run.get(1 + ((n * 7_919 + i * 104_729) % count));
    return performance.now() - begin;
  });
  return percentile(took, 0.99);
}
