/** Figures for the log alone: durable appends through the store, beside bare `node:sqlite` writing the same rows. */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { type Bar, type Durability, type Figure, type Sample, totalDurability } from './figure.ts';
import { type AppendRate, appendToManyRuns, appendToOneRun, loneRun } from './log-load.ts';
import { openMeasuredStore, type SqliteStore } from './measured-store.ts';
import { freshFolder, type Group, type Plan } from './plan.ts';
import { RawRows } from './raw-rows.ts';
import { type RowShape, readRowShape } from './run-shape.ts';
import { percentile } from './statistics.ts';

const ROWS_PER_APPEND = 4;
/** Appends in flight for the single long run. */
const WINDOW = 64;
const LONE_BLOCK = 50;

export const logGroup: Group = {
  name: 'log',
  about: 'durable appends through the log, without an engine',
  figures: ['append-many-16', 'append-many-100', 'append-one-run', 'append-lone', 'append-loop-p99'],
  run: logFigures,
};

async function logFigures(plan: Plan): Promise<readonly Figure[]> {
  const shape = await warmUp(plan);
  const atLeast = (of: Bar['of'], amount: number): Bar => ({ of, is: '>=', amount });
  return [
    await throughput(plan, shape, { name: 'append-many-16', bar: atLeast('ratio', 0.6), writers: 16 }),
    await throughput(plan, shape, { name: 'append-many-100', bar: atLeast('ratio', 0.6), writers: 100 }),
    await throughput(plan, shape, { name: 'append-one-run', bar: atLeast('value', 40_000), writers: 1 }),
    await loneAppend(plan, shape),
    await loopDelay(plan, shape),
  ];
}

/** Warms up both paths, and takes the table and rows for the raw side from what the store wrote. */
async function warmUp(plan: Plan): Promise<RowShape> {
  const folder = freshFolder(plan, 'warm');
  const store = await openMeasuredStore(folder);
  await loneRun(store, ROWS_PER_APPEND)(20);
  const shape = readRowShape(databaseFile(folder));
  await appendToManyRuns(store, { writers: 64, rowsPerAppend: ROWS_PER_APPEND, ms: 1000 });
  await store.close();
  using raw = new RawRows(join(folder, 'raw.db'), shape);
  await rawBatches(raw, { batch: 100, runs: 64, ms: 500 });
  return { ...shape, rows: shape.rows.slice(-ROWS_PER_APPEND) };
}

interface Throughput {
  readonly name: string;
  readonly bar: Bar;
  /** 1: one run with a window of appends. More: one run per writer. */
  readonly writers: number;
}

async function throughput(plan: Plan, shape: RowShape, { name, bar, writers }: Throughput): Promise<Figure> {
  const ms = plan.quick ? 400 : 2000;
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  let batch = 0;
  for (let round = 0; round < plan.rounds; round++) {
    const measured = await withStore(plan, (store) =>
      writers === 1
        ? appendToOneRun(store, { window: WINDOW, rowsPerAppend: ROWS_PER_APPEND, ms })
        : appendToManyRuns(store, { writers, rowsPerAppend: ROWS_PER_APPEND, ms }),
    );
    batch = measured.rowsPerCommit;
    using raw = new RawRows(join(freshFolder(plan, 'raw'), 'raw.db'), shape);
    const limit = await rawBatches(raw, { batch, runs: writers, ms });
    samples.push({ value: measured.result.rowsPerSecond, limit: limit.rowsPerSecond });
    durability.push(measured.durability);
    plan.progress(
      `  ${name}: ${Math.round(measured.result.rowsPerSecond)} of ${Math.round(limit.rowsPerSecond)} rows/s`,
    );
  }
  return {
    name,
    unit: 'rows/s',
    limitName: `bare node:sqlite, the same rows in commits of ${batch}`,
    bar,
    samples,
    durability: totalDurability(durability),
  };
}

async function loneAppend(plan: Plan, shape: RowShape): Promise<Figure> {
  const blocks = plan.quick ? 4 : 20;
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    using raw = new RawRows(join(freshFolder(plan, 'raw'), 'raw.db'), shape);
    const measured = await withStore(plan, async (store) => {
      const run = loneRun(store, ROWS_PER_APPEND);
      const through: number[] = [];
      const bare: number[] = [];
      for (let block = 0; block < blocks; block++) {
        through.push(...(await run(LONE_BLOCK)));
        for (let n = 0; n < LONE_BLOCK; n++) bare.push(bareCommit(raw, block * LONE_BLOCK + n));
      }
      return { value: percentile(through, 0.5), limit: percentile(bare, 0.5) };
    });
    samples.push(measured.result);
    const commits = measured.durability.commits + raw.commits;
    durability.push({ commits, flushes: measured.durability.flushes });
    plan.progress(`  append-lone: ${measured.result.value.toFixed(3)} and bare ${measured.result.limit.toFixed(3)} ms`);
  }
  return {
    name: 'append-lone',
    unit: 'ms p50',
    limitName: 'bare commit of the same rows',
    bar: { of: 'ratio', is: '<=', amount: 1.3 },
    samples,
    durability: totalDurability(durability),
  };
}

async function loopDelay(plan: Plan, shape: RowShape): Promise<Figure> {
  const ms = plan.quick ? 1000 : 5000;
  const samples: Sample[] = [];
  const durability: Durability[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const measured = await withStore(plan, (store) => appendToManyRuns(store, { writers: 256, rowsPerAppend: 2, ms }));
    using raw = new RawRows(join(freshFolder(plan, 'raw'), 'raw.db'), shape);
    const limit = await rawBatches(raw, { batch: measured.rowsPerCommit, runs: 256, ms });
    samples.push({ value: measured.result.loopP99Ms, limit: limit.loopP99Ms });
    durability.push(measured.durability);
    plan.progress(
      `  append-loop-p99: ${measured.result.loopP99Ms.toFixed(1)} ms at ${Math.round(measured.result.rowsPerSecond)} rows/s`,
    );
  }
  return {
    name: 'append-loop-p99',
    unit: 'ms',
    limitName: 'bare node:sqlite, one commit of the same size a turn',
    bar: { of: 'value', is: '<', amount: 15 },
    samples,
    durability: totalDurability(durability),
  };
}

/** Opens a store in its own folder, counts commits and flushes during the work, then closes the store. */
async function withStore<T>(plan: Plan, work: (store: SqliteStore) => Promise<T>) {
  const store = await openMeasuredStore(freshFolder(plan, 'store'));
  const before = store.stats();
  const flushesBefore = plan.flushes.read();
  const result = await work(store);
  const after = store.stats();
  const flushes = plan.flushes.read() - flushesBefore;
  await store.close();
  const commits = after.commits - before.commits;
  const rowsPerCommit = Math.max(1, Math.round((after.rows - before.rows) / commits));
  return { result, rowsPerCommit, durability: { commits, flushes } };
}

/** Commits `batch` rows at a time, spread over `runs` runs in groups of one append, until the time is up. */
async function rawBatches(
  raw: RawRows,
  load: { readonly batch: number; readonly runs: number; readonly ms: number },
): Promise<AppendRate> {
  const next = new Int32Array(load.runs);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let rows = 0;
  const begin = performance.now();
  while (performance.now() - begin < load.ms) {
    raw.begin();
    for (let n = 0; n < load.batch; n++, rows++) {
      const run = Math.floor(rows / ROWS_PER_APPEND) % load.runs;
      const seq = next[run] as number;
      raw.put(rows, run, seq);
      next[run] = seq + 1;
    }
    raw.commit();
    await setImmediate();
  }
  const took = performance.now() - begin;
  loop.disable();
  return { rowsPerSecond: (rows / took) * 1000, loopP99Ms: loop.percentile(99) / 1e6 };
}

/** Measures one commit of the rows of one append, in ms. */
function bareCommit(raw: RawRows, append: number): number {
  const begin = performance.now();
  raw.begin();
  for (let n = 0; n < ROWS_PER_APPEND; n++) raw.put(n, 1, append * ROWS_PER_APPEND + n);
  raw.commit();
  return performance.now() - begin;
}

const databaseFile = (folder: string): string => join(folder, 'cairn.db');
