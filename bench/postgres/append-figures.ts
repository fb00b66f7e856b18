/** Durable appends through the Postgres store, beside the raw batched insert of the same rows. */
import { type Figure, type Sample, totalDurability } from '../figure.ts';
import { appendToManyRuns } from '../log-load.ts';
import { openMeasuredPostgres } from '../measured-store.ts';
import type { Group, Plan } from '../plan.ts';
import { type Put, RawInsert, type RawShape, readRawShape } from './raw-insert.ts';
import { type MeasuredServer, startMeasuredServer } from './server.ts';

const ROWS_PER_APPEND = 4;
const WRITERS = [16, 100] as const;

export const appendGroup: Group = {
  name: 'pg-log',
  about: 'durable appends through the log in Postgres, without an engine',
  figures: WRITERS.map((writers) => `pg-append-${writers}`),
  run: appendFigures,
};

async function appendFigures(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]> {
  await using server = await startMeasuredServer(plan);
  plan.progress(`  Postgres ${server.version}`);
  // Warms up both paths.
  await oneRound(plan, server, { writers: 64, ms: plan.quick ? 300 : 2_000 });
  const figures: Figure[] = [];
  for (const writers of WRITERS) {
    if (wanted.includes(`pg-append-${writers}`)) figures.push(await throughput(plan, server, writers));
  }
  return figures;
}

async function throughput(plan: Plan, server: MeasuredServer, writers: number): Promise<Figure> {
  const name = `pg-append-${writers}`;
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const taken = await oneRound(plan, server, { writers, ms: plan.quick ? 400 : 4_000 });
    rounds.push(taken);
    const { value, limit } = taken.sample;
    plan.progress(`  ${name}: ${Math.round(value)} of ${Math.round(limit)} rows/s, ${taken.batch} rows a commit`);
  }
  return {
    name,
    unit: 'rows/s',
    limitName: `raw INSERT of the same rows, ${Math.min(writers * ROWS_PER_APPEND, MOST_ROWS)} a commit`,
    bar: { of: 'ratio', is: '>=', amount: 0.6 },
    samples: rounds.map(({ sample }) => sample),
    durability: totalDurability(rounds.map(({ durability }) => durability)),
  };
}

interface Round {
  readonly sample: Sample;
  /** Rows a commit. */
  readonly batch: number;
  readonly durability: { readonly commits: number; readonly flushes: number };
}

/** Rows of one commit at most, in the store. */
const MOST_ROWS = 256;

/** The store, and then the raw insert in the same database, whose commits hold the rows of all writers. */
async function oneRound(
  plan: Plan,
  server: MeasuredServer,
  { writers, ms }: { readonly writers: number; readonly ms: number },
): Promise<Round> {
  const url = await server.database();
  const store = await openMeasuredPostgres(url);
  const flushesBefore = plan.flushes.read();
  const { rowsPerSecond } = await appendToManyRuns(store, { writers, rowsPerAppend: ROWS_PER_APPEND, ms });
  const flushes = plan.flushes.read() - flushesBefore;
  const { commits, rows } = store.stats();
  await store.close();
  const batch = Math.min(writers * ROWS_PER_APPEND, MOST_ROWS);
  const shape = await readRawShape(url);
  const limit = await rawRate(url, { ...shape, rows: shape.rows.slice(-ROWS_PER_APPEND) }, { batch, writers, ms });
  return {
    sample: { value: rowsPerSecond, limit },
    batch: Math.round(rows / commits),
    durability: { commits, flushes },
  };
}

/** Rows a second, in commits of `batch` rows that are spread over the runs in groups of one append. */
async function rawRate(
  url: string,
  shape: RawShape,
  load: { readonly batch: number; readonly writers: number; readonly ms: number },
): Promise<number> {
  const [raw] = await RawInsert.open(url, shape);
  if (raw === undefined) return Number.NaN;
  await using _ = raw;
  const next = new Int32Array(load.writers);
  let rows = 0;
  const put = (): Put => {
    const run = Math.floor(rows / ROWS_PER_APPEND) % load.writers;
    rows += 1;
    const seq = next[run] ?? 0;
    next[run] = seq + 1;
    return { shape: rows - 1, run, seq };
  };
  const begin = performance.now();
  while (performance.now() - begin < load.ms) await raw.commit(Array.from({ length: load.batch }, put));
  return (rows / (performance.now() - begin)) * 1000;
}
